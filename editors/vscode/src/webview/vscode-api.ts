/** The page's end of the line to the extension. */

import type { FromPage, ToPage } from "../shared/messages";

interface VsCodeApi {
  postMessage(message: FromPage): void;
  getState(): unknown;
  setState(state: unknown): void;
}

declare function acquireVsCodeApi(): VsCodeApi;

const api = acquireVsCodeApi();

export function post(message: FromPage): void {
  api.postMessage(message);
}

export function onMessage(take: (message: ToPage) => void): void {
  window.addEventListener("message", (event: MessageEvent<ToPage>) => take(event.data));
}

/** What was typed and not sent, for a page that is shown again. */
export function draft(): string {
  const state = api.getState() as { draft?: string } | undefined;
  return state?.draft ?? "";
}

export function keepDraft(text: string): void {
  api.setState({ draft: text });
}
