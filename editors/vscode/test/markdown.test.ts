// @vitest-environment jsdom
import { expect, test } from "vitest";
import { toHtml } from "../src/webview/markdown";

function page(markdown: string): HTMLElement {
  const element = document.createElement("div");
  element.innerHTML = toHtml(markdown);
  return element;
}

test("markdown is shown as such", () => {
  const shown = page("# Title\n\n- **one**\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n```rust\nfn main() {}\n```");
  expect(shown.querySelector("h1")?.textContent).toBe("Title");
  expect(shown.querySelector("li strong")?.textContent).toBe("one");
  expect(shown.querySelectorAll("td")).toHaveLength(2);
  expect(shown.querySelector("pre code")?.textContent).toBe("fn main() {}\n");
  expect(shown.querySelector(".code-head span")?.textContent).toBe("rust");
});

test.each([
  ["an image", "![x](https://evil.example/a.png)"],
  ["HTML", '<img src=x onerror="alert(1)"><script>alert(1)</script><iframe src="https://evil.example"></iframe>'],
  ["a fence's language", '```"><img src=x onerror=alert(1)>\nx\n```'],
  ["a title", '[x](https://example.com "\\"><img src=x>")'],
])("%s loads nothing and runs nothing", (_, markdown) => {
  const shown = page(markdown);
  expect(shown.querySelector("img, script, iframe, object, embed, style, link, form")).toBeNull();
  expect([...shown.querySelectorAll("*")].flatMap((element) => element.getAttributeNames()).filter((name) => name.startsWith("on"))).toEqual([]);
});

test.each(["javascript:alert(1)", "command:workbench.action.quit", "vscode://file/etc/passwd", "data:text/html,x", "//evil.example", "file:///etc/passwd"])("%s is no link", (target) => {
  expect(page(`[x](${target})`).querySelector("a[href], a[data-file]")).toBeNull();
});

test("links lead to the web or to files of the workspace", () => {
  expect(page("[x](https://example.com/a)").querySelector("a")?.getAttribute("href")).toBe("https://example.com/a");
  expect(page("[x](src/my%20file.rs#L12)").querySelector("a")?.getAttribute("data-file")).toBe("src/my file.rs:12");
  expect(page("[x](main.rs:12)").querySelector("a")?.getAttribute("data-file")).toBe("main.rs:12");
});

test("a half of a code block is a code block", () => {
  expect(page("```js\nconst a").querySelector("pre code")?.textContent).toContain("const a");
});

test("characters that hide are shown", () => {
  expect(page("abc\u202efed").textContent.trim()).toBe("abc⟨U+202E⟩fed");
});
