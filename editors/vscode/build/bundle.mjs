// Bundles the extension and the chat's page into dist/, and tells in dist/modules.json whose modules are in them.
import { writeFileSync } from "node:fs";
import { context } from "esbuild";

const watch = process.argv.includes("--watch");
const minify = process.argv.includes("--minify");
const common = { bundle: true, minify, sourcemap: minify ? false : "linked", logLevel: "warning", legalComments: "none", metafile: true };

const builds = [
  {
    ...common,
    entryPoints: ["src/extension.ts"],
    outfile: "dist/extension.cjs",
    platform: "node",
    format: "cjs",
    target: "node20",
    external: ["vscode"],
  },
  {
    ...common,
    entryPoints: { chat: "src/webview/main.tsx" },
    outdir: "dist",
    platform: "browser",
    format: "iife",
    target: "es2022",
    jsx: "automatic",
    jsxImportSource: "preact",
    loader: { ".ttf": "file" },
    assetNames: "[name]",
  },
];

const modules = new Set();
for (const options of builds) {
  const build = await context(options);
  const { metafile } = await build.rebuild();
  for (const path of Object.keys(metafile.inputs)) {
    const module = /^(.*node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(path);
    if (module) modules.add(module[1]);
  }
  if (watch) await build.watch();
  else await build.dispose();
}
writeFileSync("dist/modules.json", `${JSON.stringify([...modules].sort(), null, 2)}\n`);
