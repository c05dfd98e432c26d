import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

// VS Code gives its API to the extensions that it runs, and to nobody else.
const vscode = fileURLToPath(new URL("test/fake-vscode.ts", import.meta.url));

export default defineConfig({ resolve: { alias: { vscode } }, test: { include: ["test/**/*.test.{ts,tsx}"] } });
