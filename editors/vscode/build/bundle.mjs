// Bundles the extension and the chat's page into dist/, with the notices of what is in them.
import { context } from "esbuild";
import { writeNotices } from "./notices.mjs";

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

const bundled = [];
for (const options of builds) {
  const build = await context(options);
  bundled.push(...Object.keys((await build.rebuild()).metafile.inputs));
  if (watch) await build.watch();
  else await build.dispose();
}
writeNotices(bundled, "dist/notices.txt");
