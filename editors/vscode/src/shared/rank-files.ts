/** Puts paths in the order in which a person would expect them for what they typed. */

export function rank(paths: string[], query: string): string[] {
  const wanted = query.toLowerCase();
  const scored = paths.map((path) => ({ path, score: score(path.toLowerCase(), wanted) }));
  return scored.sort((a, b) => a.score - b.score || a.path.length - b.path.length || a.path.localeCompare(b.path)).map(({ path }) => path);
}

/** Less is better: the name begins with it, the name has it, the path begins with it, the path has it. */
function score(path: string, wanted: string): number {
  const name = path.slice(path.lastIndexOf("/") + 1);
  if (name.startsWith(wanted)) return 0;
  if (name.includes(wanted)) return 1;
  if (path.startsWith(wanted)) return 2;
  return path.includes(wanted) ? 3 : 4;
}
