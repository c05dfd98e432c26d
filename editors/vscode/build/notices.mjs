// The notices of everything that is in the bundle, for each of its licences asks to be kept with it.
import { readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** Writes the notices of the packages that these files are from. */
export function writeNotices(files, out) {
  const folders = files.map((file) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+(?=\/)/.exec(file)?.[0]).filter(Boolean);
  const { packages } = JSON.parse(readFileSync("package-lock.json", "utf8"));
  for (const folder of folders) {
    // `cargo xtask test` looks at the licences of those, and counts them.
    if (packages[folder]?.dev !== undefined) throw new Error(`${folder} is bundled: name it among the dependencies`);
  }
  const notices = [...new Set(folders)].sort().map(noticeOf);
  writeFileSync(out, `This package contains the work of others:\n\n${notices.join("\n")}`);
}

function noticeOf(folder) {
  const { name, version, license } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  const texts = readdirSync(folder).filter((file) => /^(licen[cs]e|notice|copying)/i.test(file)).sort();
  if (texts.length === 0) throw new Error(`${folder} has no licence to be kept with it`);
  const said = texts.map((file) => readFileSync(join(folder, file), "utf8").trim());
  return `${"=".repeat(80)}\n${name} ${version} (${license})\n\n${said.join("\n\n")}\n`;
}
