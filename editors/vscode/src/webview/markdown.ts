/**
 * Markdown as HTML that is safe to show.
 *
 * The text is the agent's, and so may be anybody's. HTML in it is text, images are words, and links lead to web pages
 * or to files of the workspace; what is left goes through a sanitiser, under the page's content security policy.
 */

import DOMPurify from "dompurify";
import MarkdownIt from "markdown-it";
import { neutral } from "../shared/neutral";

const markdown = new MarkdownIt({ html: false, linkify: true });
const attribute = (token: { attrGet(name: string): string | number | null } | undefined, name: string) => String(token?.attrGet(name) ?? "");
/** Behind the colon of a place in a file are digits. */
const SCHEME = /^(?:[a-z][a-z0-9+.-]*:(?!\d)|\/\/)/i;
const WEB = /^https?:\/\//i;

markdown.renderer.rules["image"] = (tokens, index) => {
  const token = tokens[index];
  const words = token?.content ?? "";
  const source = attribute(token, "src");
  return `<span class="image">${markdown.utils.escapeHtml(`[image${words === "" ? "" : `: ${words}`}]`)} <code>${markdown.utils.escapeHtml(source)}</code></span>`;
};

markdown.renderer.rules["link_open"] = (tokens, index) => {
  const target = attribute(tokens[index], "href");
  const shown = markdown.utils.escapeHtml(target);
  if (WEB.test(target)) return `<a href="${shown}" title="${shown}">`;
  if (SCHEME.test(target)) return `<a class="dead" title="${shown}">`;
  return `<a class="file" role="button" tabindex="0" data-file="${markdown.utils.escapeHtml(fileOf(target))}" title="${shown}">`;
};

markdown.renderer.rules["fence"] = (tokens, index) => {
  const token = tokens[index];
  const language = markdown.utils.escapeHtml((token?.info ?? "").trim().split(/\s+/)[0] ?? "");
  const code = markdown.utils.escapeHtml(token?.content ?? "");
  return `<div class="code"><div class="code-head"><span>${language}</span><button type="button" class="copy" title="Copy">Copy</button></div><pre tabindex="0"><code>${code}</code></pre></div>`;
};

const ALLOWED = {
  ALLOWED_TAGS: [
    ...["a", "blockquote", "br", "button", "code", "del", "div", "em", "h1", "h2", "h3", "h4", "h5", "h6", "hr", "li", "ol"],
    ...["p", "pre", "s", "span", "strong", "table", "tbody", "td", "th", "thead", "tr", "ul"],
  ],
  ALLOWED_ATTR: ["href", "title", "class", "role", "tabindex", "start", "type", "data-file"],
  ALLOWED_URI_REGEXP: WEB,
};

export function toHtml(text: string): string {
  return DOMPurify.sanitize(markdown.render(neutral(text)), ALLOWED);
}

/** markdown-it writes links as URIs; a path is one that is not. */
function fileOf(target: string): string {
  try {
    return decodeURIComponent(target.replace(/#L?(\d+).*$/, ":$1"));
  } catch {
    return target;
  }
}
