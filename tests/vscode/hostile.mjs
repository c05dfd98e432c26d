// A repository that carries settings, tasks, commands and instructions of its own, opened by somebody who does not trust it.
import assert from "node:assert/strict";
import { play, reach } from "./channel.mjs";
import { openWindow } from "./window.mjs";

await play(
  () => openWindow({ trusted: false, settings: { "security.workspace.trust.startupPrompt": "always" } }),
  async (window) => {
    const { chat, page, input } = window;
    await page.getByRole("button", { name: "No, I don't trust the authors" }).click();
    await window.openChat();
    await chat.getByText("Airlock is off in Restricted Mode").waitFor();
    await page.locator(".statusbar-item", { hasText: "Airlock: off until trusted" }).waitFor();
    await window.shot("restricted");
    // What a curious person would try.
    await window.command("Airlock: Restart Server");
    await window.command("Airlock: New Conversation");
    await window.command("Airlock: Doctor");
    await page.locator(".view-lines", { hasText: "not trusted" }).first().waitFor();
    await reach("opened untrusted");

    await chat.getByRole("button", { name: "Manage Workspace Trust" }).click();
    await page.getByRole("button", { name: "Trust", exact: true }).click();
    await chat.locator(".badge", { hasText: "Container" }).waitFor();
    await page.locator(".monaco-modal-editor-block .codicon-close").first().click();
    await page.locator(".monaco-modal-editor-block").waitFor({ state: "detached" });
    await input.click();
    await input.pressSequentially("/");
    await chat.locator('[role="option"]', { hasText: "/help" }).waitFor();
    assert.equal(await chat.locator('[role="option"]', { hasText: "/evil" }).count(), 0, "VS Code's trust is not Airlock's");
    await input.fill("");
    await window.say("Hello");
    await chat.locator(".answer", { hasText: "Hello to you" }).waitFor();
    await window.shot("trusted");
    await reach("opened trusted");

    // Its own files count when the user has seen which they are, and has said yes.
    await window.say("/trust");
    const dialog = chat.getByRole("dialog");
    await dialog.getByText(".airlock/commands/evil.md").waitFor();
    await window.shot("trust-question");
    await dialog.getByRole("button", { name: "Do not trust" }).click();
    await chat.locator(".answer", { hasText: "It stays untrusted" }).waitFor();
  },
);
