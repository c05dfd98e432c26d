// Review: the tree, the diff, one hunk and its undo, what is protected, the explorer, a code action, a folder, the doctor.
import assert from "node:assert/strict";
import { play, reach } from "./channel.mjs";
import { openWindow } from "./window.mjs";

await play(openWindow, async (window) => {
  const { chat } = window;
  await window.openChat();
  await chat.locator(".badge", { hasText: "Container" }).waitFor();
  await window.say("Make the greetings warmer");
  await chat.locator(".review-bar", { hasText: "4 changes in 3 files to review" }).waitFor();
  await window.badge(4).waitFor();
  await reach("changes wait");
  await reload(window);
  await diff(window);
  await explorer(window);
  await hunkAndUndo(window);
  await acceptAll(window);
  await codeAction(window);
  await askAboutSelection(window);
  await folder(window);
  await conflict(window);
  await doctor(window);
});

/** A window that is loaded again goes on where it was, with what waits for review. */
async function reload(window) {
  const { chat, page } = window;
  await page.reload();
  await chat.locator(".user", { hasText: "Make the greetings warmer" }).waitFor();
  await chat.locator(".review-bar", { hasText: "4 changes in 3 files to review" }).waitFor();
}

async function diff(window) {
  const { chat, page } = window;
  await chat.getByRole("button", { name: "Review" }).click();
  await window.row("greet.js").first().waitFor();
  await window.row(".envrc").getByText("protected").waitFor();
  await window.row("greet.js").first().click();
  await window.tab("greet.js (proposed changes)").waitFor();
  await page.locator(".monaco-diff-editor .modified .codelens-decoration a", { hasText: "Accept" }).nth(1).waitFor();
  await window.shot("diff");
}

async function explorer(window) {
  const { page } = window;
  await page.keyboard.press("Control+Shift+E");
  const file = page.locator('.explorer-folders-view .monaco-list-row:has-text("greet.js")');
  if ((await file.count()) === 0) await page.locator('.explorer-folders-view .monaco-list-row:has-text("src")').click();
  await file.waitFor();
  await page.locator('.explorer-folders-view .monaco-list-row:has-text("greet.js")[aria-label*="Airlock: 2 changes to review"], .explorer-folders-view .monaco-list-row:has-text("greet.js") [aria-label*="Airlock"]').first().waitFor();
  await window.shot("explorer");
}

/** In the file itself: accept one hunk, and take it back with one undo. */
async function hunkAndUndo(window) {
  const { page } = window;
  const { lines } = window;
  const lenses = window.lenses("Accept");
  await page.locator('.explorer-folders-view .monaco-list-row:has-text("greet.js")').dblclick();
  await window.tab("greet.js").waitFor();
  await lenses.nth(1).waitFor();
  await window.shot("hunks-in-the-file");
  await lenses.first().click();
  await lines.getByText("Dear").waitFor();
  await lenses.nth(1).waitFor({ state: "detached" });
  await window.tab("greet.js", ".dirty").waitFor();
  await window.shot("one-hunk-accepted");
  await reach("one hunk is accepted");
  await lines.click();
  await page.keyboard.press("Control+Z");
  await lines.getByText("Dear").waitFor({ state: "detached" });
  await reach("it is undone");
  // The other hunk, from the tree.
  await window.openChat();
  // The tree is as it was until it is shown: a row that moves takes no click.
  await window.row("Dear").waitFor({ state: "detached" });
  await window.pressAt("Farewell", "Accept");
  await lines.getByText("Farewell").waitFor();
  await window.tab("greet.js").click();
  await page.keyboard.press("Control+S");
  await window.tab("greet.js", ":not(.dirty)").waitFor();
  await reach("the other one is saved");
}

async function acceptAll(window) {
  const { page } = window;
  await window.openChat();
  await window.row("notes.md").waitFor();
  await window.tree.hover();
  await page.getByRole("button", { name: "Accept All Changes" }).click();
  await page.locator(".notification-list-item", { hasText: ".envrc" }).waitFor();
  await window.row("notes.md").waitFor({ state: "detached" });
  await window.row(".envrc").first().waitFor();
  await window.shot("protected-is-left");
  await page.getByRole("button", { name: "Why?" }).click();
  await page.locator(".monaco-dialog-box", { hasText: "it is protected" }).waitFor();
  await window.shot("why");
  await page.keyboard.press("Escape");
  await page.locator(".monaco-dialog-box").waitFor({ state: "detached" });
  await reach("all but the protected one are accepted");
  await window.pressAt(".envrc", "Reject");
  await window.row(".envrc").first().waitFor({ state: "detached" });
  await page.getByText("What the agent changes waits here").waitFor();
  await reach("nothing waits");
  await page.keyboard.press("Escape");
}

/** It is asked while the agent is at work: it waits, and the agent can still be stopped. */
async function codeAction(window) {
  const { chat, page } = window;
  await window.openFile("settings.json");
  const problem = page.locator(".editor-instance .squiggly-error").first();
  await problem.waitFor();
  await window.say("Serve it");
  await chat.locator(".call .call-output", { hasText: "listening" }).waitFor();
  await window.lines.click();
  await page.keyboard.press("F8");
  const told = page.locator(".zone-widget, .peekview-widget").first();
  await told.waitFor();
  await page.keyboard.press("Escape");
  // What is opened while it closes is closed with it.
  await told.waitFor({ state: "detached" });
  await page.keyboard.press("Control+.");
  const action = page.locator(".action-widget .action", { hasText: "Fix with Airlock" }).first();
  await action.waitFor();
  await page.locator(".action-widget .action", { hasText: "Explain with Airlock" }).first().waitFor();
  await window.shot("code-action");
  await action.click();
  const waiting = chat.locator(".user.queued", { hasText: "Fix this problem: Expected comma" });
  await waiting.getByText("Waits until the agent is done").waitFor();
  assert.equal(await chat.locator(".end, .notice.error").count(), 0, "the turn goes on");
  await window.shot("a-question-waits");
  await chat.getByRole("button", { name: "Stop" }).click();
  await chat.locator(".end", { hasText: "Stopped" }).waitFor();
  await waiting.waitFor({ state: "detached" });
  await chat.locator(".user .text", { hasText: "Fix this problem: Expected comma" }).waitFor();
  await chat.locator(".user .about li", { hasText: "settings.json:" }).waitFor();
  await chat.locator(".answer", { hasText: "The comma is there now" }).waitFor();
  await window.row("settings.json").first().waitFor();
  await window.shot("fixed");
  await window.pressAt("settings.json", "Accept");
  await problem.waitFor({ state: "detached" });
  await window.tab("settings.json").click();
  await page.keyboard.press("Control+S");
  await window.tab("settings.json", ":not(.dirty)").waitFor();
  await reach("the problem is fixed");
}

async function askAboutSelection(window) {
  const { chat, page } = window;
  await window.lines.click();
  await page.keyboard.press("Control+A");
  await page.keyboard.press("Control+Alt+L");
  await chat.locator(".attachments li", { hasText: "settings.json:1-" }).waitFor();
  await window.say("Is it right now?");
  await chat.locator(".answer", { hasText: "It is right." }).waitFor();
  await chat.locator(".attachments").waitFor({ state: "detached" });
  await reach("the selection was sent");
}

/** A folder at once: what is protected in it is left, and not named by the folder. */
async function folder(window) {
  const { chat, page } = window;
  await window.say("Write a guide");
  await chat.locator(".review-bar", { hasText: "3 changes in 3 files to review" }).waitFor();
  await window.badge(3).waitFor();
  await window.row("one.md").first().waitFor();
  await window.pressAt("guide", "Accept");
  await page.locator(".notification-list-item", { hasText: "Accepted 2 files. Not accepted: guide/.envrc" }).waitFor();
  await window.row("one.md").waitFor({ state: "detached" });
  await window.badge(1).waitFor();
  await window.shot("folder-accepted");
  await reach("a folder is accepted");
  await window.pressAt("guide", "Reject");
  await page.getByText("What the agent changes waits here").waitFor();
  await reach("a folder is rejected");
}

/** Both sides changed the same line: it is settled as a whole, and nothing of a mark is left. */
async function conflict(window) {
  const { chat, lines, page } = window;
  await window.say("Change the second line");
  await chat.locator(".review-bar", { hasText: "1 change in 1 file to review" }).waitFor();
  await window.openFile("lines.txt");
  await lines.click();
  await page.keyboard.press("Control+A");
  await page.keyboard.insertText("one\nmy two\nthree\n");
  await window.lenses("Keep yours").waitFor();
  await window.lenses("Take the agent's").waitFor();
  await window.lenses("Keep both").waitFor();
  await window.lenses("Edit by hand").waitFor();
  await window.row("lines.txt").first().getByText("you changed it too").waitFor();
  await window.shot("conflict");
  await window.pressAt("lines.txt", "Accept");
  const ways = page.locator(".quick-input-list .monaco-list-row");
  await ways.filter({ hasText: "Keep both" }).waitFor();
  await window.shot("conflict-ways");
  await ways.filter({ hasText: "Keep both" }).click();
  await lines.getByText("the agent's two").waitFor();
  await window.row("lines.txt").first().waitFor({ state: "detached" });
  await window.tab("lines.txt").click();
  await page.keyboard.press("Control+S");
  await window.tab("lines.txt", ":not(.dirty)").waitFor();
  await reach("a conflict is settled");
}

async function doctor(window) {
  const { page } = window;
  await window.command("Airlock: Doctor");
  await page.locator(".view-lines", { hasText: "Sandbox" }).getByText("container").first().waitFor();
  const cut = await window.lines.evaluate((lines) => {
    const edge = lines.closest(".monaco-editor").getBoundingClientRect().right;
    const texts = [...lines.querySelectorAll(".view-line > span")];
    return texts.filter((text) => text.getBoundingClientRect().right > edge).map((text) => text.textContent);
  });
  assert.deepEqual(cut, [], "all of it can be read");
  await window.shot("doctor");
}
