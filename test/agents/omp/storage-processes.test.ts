/** Real processes that append to one session through the storage of omp. */
import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { setImmediate as nextIteration } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { expect, it, onTestFinished } from "vitest";
import { ompSessionStorage } from "@branchlog/agents/omp";
import { temporaryDirectory } from "../../support/temporary-directory.ts";

const script = fileURLToPath(new URL("appending-process.mjs", import.meta.url));

/** Resolves once it has ended, with how much it was told is there. */
function appending(path: string, name: string, count: number, killAfter = Infinity) {
  const child = spawn(process.execPath, [script, path, name, String(count)], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  let said = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    said += text;
    if (said.split("\n").length > killAfter) child.kill("SIGKILL");
  });
  return new Promise<number>((resolve) => {
    child.on("close", () => resolve(said.split("\n").length - 1));
  });
}

/** The ids of the lines, and whether every line is an entry. */
function idsIn(path: string): readonly string[] {
  return readFileSync(path, "utf8")
    .split("\n")
    .slice(0, -1)
    .map((line) => String((JSON.parse(line) as { readonly id: unknown }).id));
}

const ids = (name: string, count: number): readonly string[] =>
  Array.from({ length: count }, (_, i) => `${name}-${i}`);

it("loses nothing of two processes at once, while a third replaces the session", async () => {
  const path = join(temporaryDirectory(), "s.jsonl");
  const storage = ompSessionStorage();
  storage.writeTextSync(path, '{"type":"session","id":"s"}\n');
  const both = Promise.all([appending(path, "a", 300), appending(path, "b", 300)]);
  let replaced = 0;
  const over = new AbortController();
  void both.finally(() => over.abort());
  while (!over.signal.aborted) {
    const text = await storage.readText(path);
    const expectedSize = Buffer.byteLength(text);
    await storage.writeTextAtomic(path, text, { expectedSize }).then(
      () => (replaced += 1),
      () => undefined,
    );
    await nextIteration();
  }
  expect(await both).toEqual([300, 300]);
  const found = idsIn(path);
  expect(found).toHaveLength(601);
  expect(found.filter((id) => id.startsWith("a-"))).toEqual(ids("a", 300));
  expect(found.filter((id) => id.startsWith("b-"))).toEqual(ids("b", 300));
  expect(replaced).toBeGreaterThan(0);
});

it("keeps what a killed process had acknowledged, and continues after it", async () => {
  const path = join(temporaryDirectory(), "s.jsonl");
  const told = await appending(path, "killed", 100_000, 50);
  expect(await appending(path, "next", 20)).toBe(20);
  const found = idsIn(path);
  expect(found.slice(0, told)).toEqual(ids("killed", told));
  expect(found.slice(-20)).toEqual(ids("next", 20));
});
