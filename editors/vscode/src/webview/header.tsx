/** The wall, the model, and what the conversation has cost. */

import type { Chat } from "../shared/chat";
import { cost, isolation, tokens, totalTokens } from "../shared/words";
import { Icon } from "./icon";

export function Header({ chat }: { chat: Chat }) {
  const wall = isolation(chat.sandbox);
  const icon = { good: "shield", plain: "package", bad: "warning", busy: "loading" }[wall.tone];
  return (
    <header class="header">
      <span class={`badge ${wall.tone}`} role="status" title={wall.detail} aria-label={`Sandbox: ${wall.label}. ${wall.detail}`}>
        <Icon name={icon} spins={wall.tone === "busy"} />
        <span>{wall.label}</span>
      </span>
      {chat.folder !== undefined && <span class="fact" title="The folder that this conversation is about">{chat.folder}</span>}
      {chat.model !== undefined && <span class="fact" title="The model that answers; /model chooses another one">{chat.model}</span>}
      <Spent chat={chat} />
    </header>
  );
}

function Spent({ chat: { usage } }: { chat: Chat }) {
  if (usage === undefined) return null;
  const total = totalTokens(usage);
  if (total === 0) return null;
  const filled = usage.contextSize > 0 ? Math.round((100 * usage.contextUsed) / usage.contextSize) : 0;
  const detail = [
    `${usage.inputTokens.toLocaleString()} tokens read, ${usage.outputTokens.toLocaleString()} written`,
    `${usage.cacheReadTokens.toLocaleString()} read from the cache, ${usage.cacheWriteTokens.toLocaleString()} written to it`,
    `${filled}% of the model's memory is used; /compact makes room`,
  ].join("\n");
  return (
    <span class="fact spent" title={detail}>
      {tokens(total)} tokens{usage.costUsd !== undefined && ` · ${cost(usage.costUsd)}`}
    </span>
  );
}
