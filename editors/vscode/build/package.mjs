// Makes airlock-TARGET.vsix with the server for this platform in it.
//
//   npm run package                       builds the server with cargo and puts it in
//   npm run package -- --server FILE      puts this one in
//   npm run package -- --no-server        none: the setting airlock.server.path, or the PATH, will name one
//   npm run package -- --out FILE         writes the package there
import { spawnSync } from "node:child_process";
import { chmodSync, copyFileSync, existsSync, mkdirSync, rmSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";

const here = resolve(dirname(fileURLToPath(import.meta.url)), "..");
const repository = resolve(here, "../..");
const { values } = parseArgs({ options: { server: { type: "string" }, "no-server": { type: "boolean" }, out: { type: "string" } } });

const target = `${process.platform}-${process.arch}`;
const out = resolve(values.out ?? join(here, `airlock-${target}.vsix`));
const run = (program, args, cwd = here) => {
  const { status, error } = spawnSync(program, args, { cwd, stdio: ["ignore", "inherit", "inherit"] });
  if (status === 0) return;
  console.error(`${program} ${args[0]} failed${error ? `: ${error.message}` : ""}`);
  process.exit(1);
};

copyFileSync(join(repository, "LICENSE"), join(here, "LICENSE"));
rmSync(join(here, "server"), { recursive: true, force: true });
if (!values["no-server"]) {
  const server = values.server ? resolve(values.server) : buildServer();
  if (!existsSync(server)) throw new Error(`${server} is not there`);
  mkdirSync(join(here, "server"));
  copyFileSync(server, join(here, "server", "airlock"));
  chmodSync(join(here, "server", "airlock"), 0o755);
}
run(process.execPath, ["build/bundle.mjs", "--minify"]);
run(process.execPath, ["node_modules/@vscode/vsce/vsce", "package", "--no-dependencies", "--allow-missing-repository", "--no-rewrite-relative-links", "--target", target, "--out", out]);

function buildServer() {
  run("cargo", ["build", "--release", "--package", "airlock", "--bin", "airlock"], repository);
  return join(process.env.CARGO_TARGET_DIR ?? join(repository, "target"), "release", "airlock");
}
