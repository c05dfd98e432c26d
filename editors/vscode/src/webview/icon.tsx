/** One of VS Code's own icons. Words beside it say what it means, so screen readers pass over it. */
export function Icon({ name, spins = false }: { name: string; spins?: boolean }) {
  return <span class={`codicon codicon-${name}${spins ? " codicon-modifier-spin" : ""}`} aria-hidden="true" />;
}
