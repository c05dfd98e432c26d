import { describe, expect, test } from "vitest";
import { complete, insertion, tokenAt } from "../src/shared/completion";
import { inputFields } from "../src/shared/input-fields";
import { neutral, neutralMessage, neutralName, neutralOutput } from "../src/shared/neutral";
import { rank } from "../src/shared/rank-files";
import { cost, duration, isolation, primaryAnswer, tokens } from "../src/shared/words";

test.each([
  [0, "0 ms"],
  [999, "999 ms"],
  [1500, "1.5 s"],
  [59_960, "1 min 0 s"],
  [61_000, "1 min 1 s"],
])("%d ms is %s", (ms, words) => expect(duration(ms)).toBe(words));

test.each([
  [999, "999"],
  [1000, "1.0k"],
  [12_345, "12k"],
  [999_999, "1.0M"],
])("%d tokens are %s", (many, words) => expect(tokens(many)).toBe(words));

test("a cost is never shown as nothing when it is something", () => {
  expect([0, 0.001, 1.239].map(cost)).toEqual(["$0", "< $0.01", "$1.24"]);
});

test("the wall is always named, and a microVM only when it is one", () => {
  expect(isolation(undefined).label).toBe("No sandbox yet");
  expect(isolation({ state: "ready", isolation: "microvm" }).label).toBe("microVM");
  expect(isolation({ state: "ready", isolation: "container" }).label).toBe("Container");
  expect(isolation({ state: "ready" }).label).toBe("Container");
  expect(isolation({ state: "failed", detail: "podman is missing" })).toMatchObject({ label: "No sandbox", tone: "bad", detail: "podman is missing" });
});

describe("text that somebody else wrote", () => {
  test.each([
    ["colours", "\u001b[31mred\u001b[0m", "red"],
    ["the clipboard", "a\u001b]52;c;ZXZpbA==\u0007b", "ab"],
    ["a title without an end", "a\u001b]0;evil", "a"],
    ["the direction", "abc\u202efed", "abc⟨U+202E⟩fed"],
    ["tag characters", "hi\u{e0041}", "hi⟨U+E0041⟩"],
    ["a bell", "\u0007", "⟨U+0007⟩"],
  ])("%s cannot be touched", (_, text, shown) => expect(neutral(text)).toBe(shown));

  test("what belongs to a text stays", () => {
    expect(neutral("a\tb\nc 👩‍💻 ⚠️ é 日本")).toBe("a\tb\nc 👩‍💻 ⚠️ é 日本");
  });

  test("a name is one line, and no message has a link that we did not make", () => {
    expect(neutralName("a\nb\tc")).toBe("a⟨U+000A⟩b⟨U+0009⟩c");
    expect(neutralMessage("Not accepted: [x](command:workbench.action.quit)")).toBe("Not accepted: [x] (command:workbench.action.quit)");
  });

  test("a line that is written over is shown as it ends", () => {
    expect(neutralOutput("10%\r50%\r100%\r\ndone\r\n")).toBe("100%\ndone\n");
  });
});

describe("completion", () => {
  const commands = [
    { name: "compact", description: "Make room" },
    { name: "load", description: "Go on", hint: "[session]" },
    { name: "git:commit", description: "Commit" },
  ];

  test("a slash counts at the very beginning, an at sign behind a blank", () => {
    expect(tokenAt("/co", 3)).toMatchObject({ kind: "command", typed: "co" });
    expect(tokenAt("see /co", 7)).toBeUndefined();
    expect(tokenAt("see @src/m", 10)).toEqual({ kind: "file", start: 4, end: 10, typed: "src/m" });
    expect(tokenAt("me@example", 10)).toBeUndefined();
  });

  test("commands that begin with it come before those that have it", () => {
    const token = tokenAt("/com", 4);
    expect(complete(token, commands).map(({ label }) => label)).toEqual(["/compact", "/git:commit"]);
  });

  test("a command that takes something leaves room for it", () => {
    const [load] = complete(tokenAt("/lo", 3), commands);
    if (load === undefined) throw new Error("a completion was expected");
    expect(insertion("/lo", load)).toEqual({ text: "/load ", cursor: 6 });
  });

  test("a file takes the place of what was typed of it", () => {
    const [file] = complete(tokenAt("see @ma now", 7), [], ["src/main.rs"]);
    if (file === undefined) throw new Error("a completion was expected");
    expect(insertion("see @ma now", file).text).toBe("see @src/main.rs  now");
  });

  test("files come as a person expects them", () => {
    expect(rank(["src/domain.rs", "main/x.rs", "src/main.rs", "README.md"], "main")).toEqual(["src/main.rs", "src/domain.rs", "main/x.rs", "README.md"]);
  });
});

test("what goes into a call is shown without JSON", () => {
  expect(inputFields({ path: "a.rs", first_line: 3, edits: [{ old: "x", new: "y" }], background: true })).toEqual([
    { name: "Path", value: "a.rs" },
    { name: "First line", value: "3" },
    { name: "Edits", value: "• Old: x\n  New: y" },
    { name: "Background", value: "yes" },
  ]);
  expect(inputFields(null)).toEqual([]);
});

test("one answer stands out, and it allows no more than it must", () => {
  const option = (kind: string) => ({ id: kind, label: kind, kind });
  expect(primaryAnswer(["allow_session", "allow_once", "allow_once", "reject"].map(option))?.kind).toBe("allow_once");
  expect(primaryAnswer(["reject", "allow_session"].map(option))?.kind).toBe("allow_session");
  expect(primaryAnswer([option("reject")])).toBeUndefined();
});
