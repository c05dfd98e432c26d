import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { findServer, NoServer } from "../src/server/binary";
import { Restarts } from "../src/server/restarts";
import { ServerProcess } from "../src/server/server-process";

const only = (...there: string[]) => (file: string) => there.includes(file);

test("what the user names wins, and is never replaced by another one", () => {
  const places = { told: "/opt/airlock", extensionFolder: "/ext", path: "/usr/bin" };
  expect(findServer({ ...places, isProgram: only("/opt/airlock", "/ext/server/airlock") })).toBe("/opt/airlock");
  expect(() => findServer({ ...places, isProgram: only("/ext/server/airlock") })).toThrow(NoServer);
});

test("a home may be written short, a relative path may not", () => {
  const isProgram = only(`${homedir()}/bin/airlock`);
  expect(findServer({ told: "~/bin/airlock", extensionFolder: "/ext", path: "", isProgram })).toBe(`${homedir()}/bin/airlock`);
  expect(() => findServer({ told: "bin/airlock", extensionFolder: "/ext", path: "", isProgram })).toThrow("whole path");
});

test("the bundled server comes before the PATH, in which the current folder never counts", () => {
  const places = { told: "", extensionFolder: "/ext", path: ":.:/usr/bin" };
  expect(findServer({ ...places, isProgram: only("/ext/server/airlock", "/usr/bin/airlock") })).toBe("/ext/server/airlock");
  expect(findServer({ ...places, isProgram: only("/usr/bin/airlock") })).toBe("/usr/bin/airlock");
  expect(() => findServer({ ...places, isProgram: only("airlock", "./airlock") })).toThrow("airlock.server.path");
});

test("a server that keeps failing is not started for ever, one that fails now and then is", () => {
  const restarts = new Restarts();
  expect([1, 2, 3, 4, 5].map((now) => restarts.allow(now))).toEqual([true, true, true, true, false]);
  expect(restarts.allow(4 * 60_000)).toBe(true);
  restarts.forget();
  expect([6, 7].map((now) => restarts.allow(now))).toEqual([true, true]);
});

test("a process that is told to end is gone, and it is known how", async () => {
  const folder = mkdtempSync(join(tmpdir(), "airlock-"));
  const program = join(folder, "airlock");
  writeFileSync(program, "#!/bin/sh\ncat\necho bye >&2\nexit 3\n", { mode: 0o755 });
  const started = await ServerProcess.start(program, process.env);
  expect(await started.goneWithin(0)).toBe(false);
  await started.end();
  expect(await started.goneWithin(0)).toBe(true);
  expect(started.why).toMatch(/^It ended with the exit code 3\./);
  rmSync(folder, { recursive: true });
});
