// A window that is open beside another editor in the same folder.
import assert from "node:assert/strict";
import { play, reach } from "./channel.mjs";
import { openWindow } from "./window.mjs";

await play(openWindow, async (window) => {
  const { chat, lines, page } = window;
  await window.openFile("notes.txt");
  await window.openChat();
  await chat.locator(".badge", { hasText: "Container" }).waitFor();
  await window.say("The third line, please");
  await chat.getByText("The third is done.").waitFor();
  await chat.locator(".review-bar", { hasText: "1 change in 1 file to review" }).waitFor();
  await reach("its change waits");
  await chat.getByRole("button", { name: "Accept All" }).click();
  await lines.getByText("LINE 3").waitFor();
  await window.tab("notes.txt", ".dirty").waitFor();
  await window.tab("notes.txt").click();
  await page.keyboard.press("Control+S");
  await window.tab("notes.txt", ":not(.dirty)").waitFor();
  await reach("its change is saved");
  // What the other editor saved.
  await lines.getByText("LINE 17").waitFor();
  await chat.locator(".review-bar").waitFor({ state: "detached" });
  assert.equal(await chat.getByText("seventeenth").count(), 0, "the other conversation is not here");
  await window.shot("both");
  await reach("it shows both");
});
