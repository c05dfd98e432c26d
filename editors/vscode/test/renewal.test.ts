import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { ChatStore } from "../src/conversation/chat-store";
import { Renewal } from "../src/server/renewal";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

function renewal() {
  const store = new ChatStore();
  const restart = vi.fn();
  return { store, restart, renewal: new Renewal(store, restart) };
}

test("a burst of changed settings is one restart", async () => {
  const { renewal: one, restart } = renewal();
  for (let letter = 0; letter < 5; letter += 1) {
    one.want();
    await vi.advanceTimersByTimeAsync(300);
  }
  expect(restart).not.toHaveBeenCalled();
  await vi.advanceTimersByTimeAsync(2000);
  expect(restart).toHaveBeenCalledOnce();
});

test("a turn in work is not ended by a changed setting", async () => {
  const { renewal: one, restart, store } = renewal();
  store.tell({ type: "prompted", text: "go", about: [] });
  one.want();
  await vi.advanceTimersByTimeAsync(5000);
  one.want();
  await vi.advanceTimersByTimeAsync(5000);
  expect(restart).not.toHaveBeenCalled();
  store.tell({ type: "update", update: { kind: "turn_end", turnId: "1", stopReason: "end_turn" }, at: 0 });
  await vi.advanceTimersByTimeAsync(100);
  expect(restart).toHaveBeenCalledOnce();
});
