// A conversation: completion, streaming, tool cards, stop, a question, an earlier conversation, a crash of the server.
import assert from "node:assert/strict";
import { play, reach } from "./channel.mjs";
import { openWindow } from "./window.mjs";

await play(openWindow, async (window) => {
  const { chat, page, input } = window;
  await window.openChat();
  await chat.locator(".badge", { hasText: "Container" }).waitFor();
  await chat.getByText("What shall we do?").waitFor();
  await page.locator(".statusbar-item", { hasText: "Container · claude-sonnet-5" }).waitFor();
  await window.shot("beginning");

  await completion(window);
  await streaming(window);
  await hostileText(window);
  await toolCard(window);
  await stop(window);
  await denial(window);
  await longDenial(window);
  await reopening(window);
  await crash(window);
  await givingUp(window);

  for (const [name, kind] of [["Light Modern", "vscode-light"], ["Dark High Contrast", "vscode-high-contrast"], ["Light High Contrast", "vscode-high-contrast-light"]]) {
    await window.theme(name, kind);
    await window.shot(kind);
  }
  assert.equal(await input.inputValue(), "");
});

async function completion(window) {
  const { chat, input } = window;
  await input.click();
  await input.pressSequentially("/com");
  await chat.locator('[role="option"]', { hasText: "/commit" }).waitFor();
  await chat.locator('[role="option"][aria-selected="true"]', { hasText: "/com" }).waitFor();
  await window.shot("slash-commands");
  await input.press("Escape");
  await input.fill("");
  await input.pressSequentially("What does @gree");
  await chat.locator('[role="option"]', { hasText: "src/greet.js" }).waitFor();
  await window.shot("files");
  await input.press("Enter");
  assert.equal(await input.inputValue(), "What does @src/greet.js ");
  await input.press("Shift+Enter");
  await input.pressSequentially("do?");
  assert.equal(await input.inputValue(), "What does @src/greet.js \ndo?");
}

async function streaming(window) {
  const { chat, input } = window;
  await input.press("Enter");
  await chat.locator(".user", { hasText: "What does @src/greet.js" }).waitFor();
  await chat.locator(".thought summary").waitFor();
  // Its beginning stands there while the rest is not said yet.
  await chat.locator(".answer strong", { hasText: "greets" }).waitFor();
  await chat.getByRole("button", { name: "Stop" }).waitFor();
  assert.equal(await chat.locator(".answer pre").count(), 0);
  await window.shot("streaming");
  await reach("the answer begins");
  await chat.locator(".answer pre code", { hasText: 'console.log(greet("you"))' }).waitFor();
  await chat.getByRole("button", { name: "Send" }).waitFor();
  assert.equal(await chat.locator(".thought .markdown").first().isVisible(), false, "thinking is folded away");
  await chat.locator(".thought summary").first().click();
  await chat.locator(".thought .markdown", { hasText: "The file has one function" }).waitFor();
  await chat.locator(".thought summary").first().click();
  await chat.locator(".spent", { hasText: "tokens" }).waitFor();
  await window.shot("answer");
}

async function hostileText(window) {
  const { chat, requests } = window;
  await window.say("Show me pictures");
  await chat.locator(".answer", { hasText: "That was all of it" }).waitFor();
  assert.equal(await chat.locator(".transcript").locator("img, script, iframe, object, video, svg").count(), 0);
  assert.equal(await chat.locator(".transcript a[href^='javascript'], a[href^='command'], a[href^='vscode']").count(), 0);
  await chat.getByText("<img src=").waitFor();
  assert.equal(await chat.locator("body").evaluate(() => globalThis.pwned), undefined);
  assert.deepEqual(requests.filter((url) => url.includes("evil.example")), []);
  // Even code of ours could load nothing from there.
  const blocked = await chat.locator("body").evaluate(
    () =>
      new Promise((resolve) => {
        document.addEventListener("securitypolicyviolation", (event) => resolve(event.effectiveDirective), { once: true });
        const image = new Image();
        image.onload = () => resolve("loaded");
        image.src = "https://evil.example/by-script.png";
      }),
  );
  assert.equal(blocked, "img-src");
  await chat.getByText("⟨U+202E⟩").first().waitFor();
}

async function toolCard(window) {
  const { chat } = window;
  await window.say("Run the tests");
  const card = chat.locator(".call", { hasText: "sh test.sh" });
  await card.locator(".exit", { hasText: "exit code 3" }).waitFor();
  await chat.locator(".answer", { hasText: "One test fails" }).waitFor();
  assert.match(await card.locator(".call-facts").innerText(), /exit code 3\s+[\d.]+ (ms|s)/);
  // What failed is open by itself, and closes when it is told to.
  assert.match(await card.locator(".call-output").innerText(), /^first passed\nsecond failed/);
  assert.equal(await card.locator(".call-head").getAttribute("aria-expanded"), "true");
  await window.shot("tool-card");
  await card.locator(".call-head").click();
  await card.locator(".call-output").waitFor({ state: "detached" });
}

async function stop(window) {
  const { chat, input, page } = window;
  await window.say("Serve it");
  const card = chat.locator(".call", { hasText: "listening" });
  // Live: the command is still at it.
  await card.locator(".call-output", { hasText: "listening" }).waitFor();
  assert.equal(await card.locator(".exit").count(), 0);
  await page.locator(".statusbar-item", { hasText: "claude-sonnet-5 · $ echo listening" }).waitFor();
  await window.shot("running");
  // Escape means the list while one is open.
  await input.pressSequentially("/co");
  await chat.locator('[role="option"]').first().waitFor();
  await input.press("Escape");
  await chat.locator('[role="option"]').first().waitFor({ state: "detached" });
  assert.equal(await chat.locator(".end").count(), 0);
  await input.fill("");
  await chat.getByRole("button", { name: "Stop" }).click();
  await chat.locator(".end", { hasText: "Stopped" }).waitFor();
  await chat.getByRole("button", { name: "Send" }).waitFor();
  await chat.locator(".call.failed", { hasText: "listening" }).waitFor();
  await reach("stopped");
}

async function denial(window) {
  const { chat, input, lines, page } = window;
  await window.say("Look around");
  await chat.getByText("Let me see: ls.").waitFor();
  await window.openFile("test.sh");
  await lines.click();
  await page.keyboard.press("Control+End");
  await reach("the user is in a file");
  const dialog = chat.getByRole("dialog");
  await dialog.getByText("made the same call 3 times").waitFor();
  const text = await dialog.locator(".detail").innerText();
  assert.match(text, /command: ls/);
  assert.doesNotMatch(text, /[{}"]/, "people read no JSON");
  assert.equal(await dialog.locator(".button:not(.secondary)").count(), 1, "one answer stands out");
  // What the user types goes on into the file, from the first key to the last.
  const stop = dialog.locator("button:enabled", { hasText: "Stop" });
  await page.keyboard.type("all this ");
  await stop.waitFor();
  await page.keyboard.type("is typed ");
  await page.keyboard.press("Enter");
  await page.keyboard.press("Space");
  await page.keyboard.type("into the file");
  await lines.getByText("all this is typed").waitFor();
  await lines.getByText("into the file").waitFor();
  assert.equal(await dialog.isVisible(), true);
  await window.shot("question");
  await window.command("File: Revert File");
  await window.tab("test.sh", ":not(.dirty)").waitFor();
  await window.command("View: Close Editor");
  await stop.click();
  await dialog.waitFor({ state: "detached" });
  await chat.getByRole("button", { name: "Send" }).waitFor();
  await reach("denied");
  assert.equal(await input.isEnabled(), true);
}

/** A padded question: all of it can be read, the end as well, and Escape in it is a no. */
async function longDenial(window) {
  const { chat, input, page } = window;
  await window.say("Do the long one");
  await chat.getByText("Let me see: long.").waitFor();
  await page.keyboard.press("Control+B");
  await window.changesHeader.waitFor({ state: "hidden" });
  await reach("the chat is out of sight");
  // It is told, and no other view has to go for it.
  const told = page.locator(".notification-list-item", { hasText: "Airlock asks: The agent made the same call 3 times" });
  await told.waitFor();
  assert.equal(await window.changesHeader.isVisible(), false);
  await window.shot("question-out-of-sight");
  await told.getByRole("button", { name: "Show Question" }).click();
  const dialog = chat.getByRole("dialog");
  await dialog.getByText("made the same call 3 times").waitFor();
  await dialog.locator("button:enabled", { hasText: "Stop" }).waitFor();
  // The cursor is in the input, as after any other way into the chat.
  await input.and(chat.locator(":focus")).waitFor();
  await page.keyboard.type("and then ");
  assert.equal(await input.inputValue(), "and then ");
  await input.fill("");
  const detail = dialog.locator(".detail");
  await detail.evaluate((element) => element.scrollTo(0, element.scrollHeight));
  assert.match(await detail.innerText(), /echo the end of it/);
  const [seen, button] = await Promise.all([detail.boundingBox(), dialog.getByRole("button", { name: "Stop" }).boundingBox()]);
  assert.ok(seen.y + seen.height <= button.y, "the answers are never pushed away");
  await window.shot("long-question");
  await dialog.press("Escape");
  await dialog.waitFor({ state: "detached" });
  await chat.getByRole("button", { name: "Send" }).waitFor();
  await reach("denied by Escape");
}

async function reopening(window) {
  const { chat, page } = window;
  await page.getByRole("button", { name: "New Conversation" }).click();
  await chat.getByText("What shall we do?").waitFor();
  assert.equal(await chat.locator(".user").count(), 0);
  await window.say("A second matter");
  await chat.locator(".answer", { hasText: "Yes?" }).waitFor();
  await page.getByRole("button", { name: "Reopen a Conversation…" }).click();
  const earlier = page.locator(".quick-input-list .monaco-list-row", { hasText: "What does @src/greet.js" });
  await earlier.waitFor();
  await window.shot("earlier-conversations");
  await earlier.click();
  await chat.locator(".user", { hasText: "Do the long one" }).waitFor();
  await chat.locator(".user", { hasText: "What does @src/greet.js" }).waitFor();
  await chat.locator(".call.failed", { hasText: "sh test.sh" }).locator(".call-output", { hasText: "second failed" }).waitFor();
  assert.equal(await chat.locator(".user", { hasText: "A second matter" }).count(), 0);
  await chat.locator(".badge", { hasText: "Container" }).waitFor();
  await window.say("Do you remember?");
  await chat.locator(".answer", { hasText: "I do." }).waitFor();
  await window.shot("reopened");
}

async function crash(window) {
  const { chat, input } = window;
  await input.click();
  await input.pressSequentially("Are you there?");
  await reach("the server may crash");
  await chat.locator(".notice", { hasText: "was started again" }).waitFor();
  await chat.locator(".user", { hasText: "Do you remember?" }).waitFor();
  assert.equal(await input.inputValue(), "Are you there?", "what was typed is still there");
  await window.shot("after-a-crash");
  await input.press("Enter");
  await chat.locator(".answer", { hasText: "Here I am" }).waitFor();
  await chat.getByRole("button", { name: "Send" }).waitFor();
}

/** A server that cannot stay is not started for ever: the reason is shown, with what to do. */
async function givingUp(window) {
  const { chat, page } = window;
  await reach("it may crash for good");
  await chat.getByRole("heading", { name: "Airlock is not running" }).waitFor();
  await chat.getByRole("alert").getByText("ended several times in a row. It was ended by SIGKILL").waitFor();
  await page.locator(".statusbar-item", { hasText: "Airlock: not running" }).waitFor();
  assert.equal(await page.locator(".notification-list-item").count(), 0, "it is said once");
  await window.shot("not-running");
  await reach("it gave up");
  await chat.getByRole("button", { name: "Try Again" }).click();
  await chat.locator(".answer", { hasText: "Here I am" }).waitFor();
  await chat.locator(".badge", { hasText: "Container" }).waitFor();
}
