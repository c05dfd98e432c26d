// A window of VS Code: code-server with Chromium in front of it, and what a person does there.
import { spawn } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";

const test = JSON.parse(process.env.VSCODE_TEST);
const scenario = basename(process.argv[1], ".mjs");
const { chromium } = await import(join(test.modules, "playwright-core/index.mjs"));

/** Long, because the machine may be busy; only a scenario that fails anyway waits this long. */
const WAIT_MS = 90_000;

const SETTINGS = {
  "workbench.startupEditor": "none",
  "workbench.colorTheme": "Dark Modern",
  "workbench.secondarySideBar.defaultVisibility": "hidden",
  "workbench.tips.enabled": false,
  "chat.disableAIFeatures": true,
  "editor.minimap.enabled": false,
  "extensions.autoCheckUpdates": false,
  "extensions.ignoreRecommendations": true,
  "files.autoSave": "off",
  "git.enabled": false,
  "security.workspace.trust.enabled": true,
  "security.workspace.trust.startupPrompt": "never",
};

const CHROMIUM = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"];

/** Opens the test's folder; `settings` come on top of the usual ones, `trusted` says so in advance. */
export async function openWindow({ settings = {}, trusted = true, width = 1280, height = 960 } = {}) {
  mkdirSync(join(test.userData, "User"), { recursive: true });
  writeFileSync(join(test.userData, "User/settings.json"), JSON.stringify({ ...SETTINGS, ...settings }));
  const server = await startServer(trusted);
  const browser = await chromium.launch({ executablePath: test.chromium, args: CHROMIUM });
  const context = await browser.newContext({ viewport: { width, height }, permissions: ["clipboard-read", "clipboard-write"] });
  context.setDefaultTimeout(WAIT_MS);
  const page = await context.newPage();
  const requests = [];
  page.on("request", (request) => requests.push(request.url()));
  await page.goto(`${server.url}?folder=${test.folder}`);
  await page.locator(".monaco-workbench .activitybar").waitFor();
  return new Window(page, requests, async () => {
    // Leaving the page ends the extension, which ends its server well, and that its sandbox.
    await page.goto("about:blank");
    await noServerRuns();
    await browser.close();
    await server.stop();
  });
}

class Window {
  constructor(page, requests, close) {
    Object.assign(this, { page, requests, close });
    /** The chat's own page. */
    this.chat = page.frameLocator("iframe.webview.ready").frameLocator("#active-frame");
    this.input = this.chat.locator("textarea");
    this.changesHeader = page.locator('.pane-header[aria-label^="Changes to Review"]');
    this.tree = page.locator('.pane:has(.pane-header[aria-label^="Changes to Review"]) .monaco-list');
  }

  async openChat() {
    // A second click would close it.
    if (await this.changesHeader.isVisible()) return;
    await this.page.locator('.activitybar [aria-label^="Airlock"]').first().click();
    await this.page.mouse.move(640, 940);
  }

  /** Types a prompt as a person does, and sends it. */
  async say(text) {
    await this.input.click();
    await this.input.pressSequentially(text);
    await this.input.press("Enter");
  }

  /** Runs a command of the palette. */
  async command(title) {
    await this.page.keyboard.press("F1");
    const box = this.page.locator(".quick-input-widget input");
    await box.fill(`>${title}`);
    await this.page.locator(`.quick-input-list .monaco-list-row[aria-label^="${title}"]`).first().click();
  }

  async openFile(name) {
    await this.page.keyboard.press("Control+P");
    const box = this.page.locator(".quick-input-widget input");
    await box.fill(name);
    await this.page.locator(".quick-input-list .monaco-list-row", { hasText: name.split("/").at(-1) }).first().waitFor();
    await box.press("Enter");
    await this.tab(name.split("/").at(-1)).waitFor();
  }

  /** The tab in front, if it has this name. A diff has more than the name of its file. */
  tab(name, state = "") {
    const tab = this.page.locator(`.tab.active${state}`, { hasText: name });
    return name.includes("(") ? tab : tab.filter({ hasNotText: "(" });
  }

  /** What is in sight of the editor: its lines, and the lenses above them. */
  get lines() {
    return this.page.locator(".editor-instance .view-lines").filter({ visible: true }).last();
  }

  lenses(text) {
    return this.page.locator(".editor-instance .codelens-decoration a", { hasText: text }).filter({ visible: true });
  }

  /** The number at our icon, if it is this one. */
  badge(count) {
    const icon = this.page.locator(".activitybar .action-item").filter({ has: this.page.locator('[aria-label^="Airlock"]') });
    return icon.locator(".badge-content", { hasText: new RegExp(`^${count}$`) });
  }

  /** The row of the tree of changes that has this text. */
  row(text) {
    return this.tree.locator(".monaco-list-row", { hasText: text });
  }

  /** Presses a button at a row of the tree. It is there while the mouse is; a tree that changes moves its rows away. */
  async pressAt(text, button) {
    const row = this.row(text).first();
    const since = Date.now();
    for (;;) {
      await row.hover();
      try {
        return await row.locator(`[aria-label^="${button}"]`).first().click({ timeout: 2000 });
      } catch (error) {
        if (Date.now() - since > WAIT_MS) throw error;
        await this.page.mouse.move(640, 400);
      }
    }
  }

  async theme(name, kind) {
    await this.command("Preferences: Color Theme");
    const row = this.page.locator(".quick-input-list .monaco-list-row", { hasText: name }).first();
    await this.page.locator(".quick-input-widget input").fill(name);
    await row.click();
    await this.chat.locator(`body.${kind}`).waitFor();
  }

  async shot(name) {
    // What the mouse rests on has a hint, which would be in the picture.
    await this.page.mouse.move(640, 700);
    await this.page.locator(".workbench-hover-container:visible").first().waitFor({ state: "hidden" });
    await this.page.screenshot({ path: join(test.screenshots, `${scenario}-${name}.png`) });
  }
}

/** Waits until the extension's Airlock servers, which have our home, are gone. */
async function noServerRuns() {
  const read = (id, file) => {
    try {
      return readFileSync(`/proc/${id}/${file}`, "utf8").split("\0");
    } catch {
      // It has ended.
      return [];
    }
  };
  const isOurs = (id) => {
    const [program = "", command] = read(id, "cmdline");
    return program.endsWith("/airlock") && command === "lsp" && read(id, "environ").includes(`HOME=${process.env.HOME}`);
  };
  const since = Date.now();
  while (readdirSync("/proc").some(isOurs)) {
    if (Date.now() - since > WAIT_MS) throw new Error("the extension's server does not end");
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

async function startServer(trusted) {
  const args = [
    join(test.modules, "code-server/out/node/entry.js"),
    ...["--auth", "none", "--bind-addr", "127.0.0.1:0", "--user-data-dir", test.userData, "--extensions-dir", test.extensions],
    ...["--disable-telemetry", "--disable-update-check", ...(trusted ? ["--disable-workspace-trust"] : [])],
  ];
  const { VSCODE_TEST: _, ...env } = process.env;
  // A group of its own, so that all of it can be ended.
  const server = spawn(test.node, args, { env, stdio: ["ignore", "pipe", "pipe"], detached: true });
  const stop = () =>
    new Promise((resolve) => {
      server.once("exit", resolve);
      process.kill(-server.pid, "SIGTERM");
    });
  process.once("exit", () => {
    try {
      process.kill(-server.pid, "SIGKILL");
    } catch {
      // It has ended.
    }
  });
  let said = "";
  const url = await new Promise((resolve, reject) => {
    const hear = (text) => {
      said += text;
      const found = /HTTP server listening on (http:\S+)/.exec(said);
      if (found) resolve(found[1]);
    };
    server.stdout.on("data", hear);
    server.stderr.on("data", hear);
    server.once("exit", (code) => reject(new Error(`code-server ended (${code}): ${said}`)));
  });
  return { url, stop };
}
