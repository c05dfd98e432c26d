// The line to the Rust test that runs a scenario: it is told of points, and says when to go on.
import { createInterface } from "node:readline";

const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]();
const say = (message) => process.stdout.write(`${JSON.stringify(message)}\n`);

/** Says that the scenario is at a point, and waits until the test lets it go on. */
export async function reach(point, told = null) {
  say({ reached: point, told });
  const { done } = await lines.next();
  if (done) throw new Error("the test is gone");
}

/** Runs a scenario in a window, and tells the test how it ended. */
export async function play(open, scenario) {
  let window;
  try {
    window = await open();
    await scenario(window);
    await window.close();
    say({ finished: true });
    process.exit(0);
  } catch (error) {
    await window?.shot("failure").catch(() => undefined);
    await window?.close().catch(() => undefined);
    say({ failed: String(error?.stack ?? error) });
    process.exit(1);
  }
}
