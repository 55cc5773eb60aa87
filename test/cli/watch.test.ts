/** `branchlog watch`: what it begins with, what becomes of sessions, and how it ends. */
import { mkdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { expect, it } from "vitest";
import { createSession, openSession } from "@branchlog/core";
import type { ListedSession } from "@branchlog/library";
import { PendingEvents } from "../../packages/cli/src/commands/watch.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";
import { MemoryOutput, branchlog } from "./command-run.ts";
import { ended, following } from "./command-process.ts";

async function newSession(path: string, content: string): Promise<void> {
  const session = await createSession(path, { cwd: "/w", id: content });
  await session.append({ type: "message", message: { role: "user", content, timestamp: 1 } });
}

async function rename(path: string, name: string): Promise<void> {
  await (await openSession(path)).append({ type: "session_info", name });
}

it("watch lists the sessions, then their changes, until it is interrupted", async () => {
  const directory = temporaryDirectory();
  const [one, two] = [join(directory, "one.jsonl"), join(directory, "two.jsonl")];
  await newSession(one, "first");
  const { child, lines } = following(["watch", directory]);
  const sizeBefore = String(statSync(one).size);
  const time = "1970-01-01T00:00:00.001Z";
  expect((await lines(1))[0]?.split("\t")).toEqual([
    "added",
    "first",
    "pi",
    time,
    "1",
    sizeBefore,
    "first",
    "/w",
    one,
  ]);
  await rename(one, "N");
  const size = String(statSync(one).size);
  const facts = ["first", "pi", time, "1", size, "N", "/w", one];
  expect((await lines(2))[1]?.split("\t")).toEqual(["changed", ...facts]);
  rmSync(one);
  expect((await lines(3))[2]?.split("\t")).toEqual(["removed", ...facts]);
  await newSession(two, "second");
  expect((await lines(4))[3]).toMatch(/^added\tsecond\t/u);
  child.kill("SIGINT");
  expect(await ended(child)).toMatchObject({ code: 130 });
});

it("watch --json prints JSON, and reports when all existing sessions are listed", async () => {
  const directory = temporaryDirectory();
  const below = join(directory, "below");
  mkdirSync(below);
  const path = join(below, "one.jsonl");
  await newSession(path, "first");
  const { child, lines } = following(["watch", "-r", "--json", directory]);
  const [added, live] = (await lines(2)).map((line): unknown => JSON.parse(line));
  const facts = { path, id: "first", cwd: "/w", messageCount: 1, firstMessage: "first" };
  expect(added).toMatchObject({ kind: "added", session: facts });
  expect(live).toEqual({ kind: "live", sessions: 1 });
  await rename(path, "N");
  const changed: unknown = JSON.parse((await lines(3))[2] ?? "");
  expect(changed).toMatchObject({ kind: "changed", session: { ...facts, name: "N" } });
  child.kill("SIGTERM");
  await ended(child);
});

it("watch ends silently when its output is closed", async () => {
  const directory = temporaryDirectory();
  const path = join(directory, "one.jsonl");
  await newSession(path, "first");
  const { child, lines } = following(["watch", directory]);
  await lines(1);
  child.stdout?.destroy();
  const end = ended(child);
  for (let n = 0; child.exitCode === null && n < 1000; n += 1) {
    await rename(path, `N${n}`);
    await new Promise(setImmediate);
  }
  expect(await end).toMatchObject({ code: 0 });
});

it("watch waits when the directory does not exist yet", async () => {
  const directory = join(temporaryDirectory(), "later");
  const interrupt = new AbortController();
  const out = new MemoryOutput({ onWrite: () => interrupt.abort() });
  const words = ["watch", "--json", directory];
  const { code } = await branchlog(words, { out, signal: interrupt.signal });
  expect([code, out.text]).toEqual([130, '{"kind":"live","sessions":0}\n']);
});

it("watch fails when the path is not a directory", async () => {
  const path = join(temporaryDirectory(), "file");
  writeFileSync(path, "");
  const { code, out, err } = await branchlog(["watch", path]);
  expect([code, out]).toEqual([1, ""]);
  expect(err).toMatch(/is not a directory\. Give the directory .* \(ERR_LOG_UNREADABLE\)/u);
});

const paths = ["a", "b", "c"] as const;

function listed(path: string, sizeBytes: number): ListedSession {
  const header = { type: "session", version: 3, id: path, timestamp: "", cwd: "" } as const;
  const summary = { messageCount: 0, firstMessage: undefined, lastActivityMs: undefined };
  const facts = { name: undefined, summary, dialect: "pi" } as const;
  return { path, header, ...facts, modifiedMs: sizeBytes, sizeBytes };
}

it("merged events of a slow reader have the same result as all events", () => {
  const step = fc.tuple(fc.constantFrom(...paths), fc.boolean(), fc.boolean());
  fc.assert(
    fc.property(fc.array(step), (steps) => {
      const pending = new PendingEvents();
      const [now, known] = [new Map<string, ListedSession>(), new Map<string, ListedSession>()];
      let size = 0;
      for (const [path, isThere, isTaken] of steps) {
        const before = now.get(path);
        const session = listed(path, (size += 1));
        if (isThere) now.set(path, session);
        else now.delete(path);
        pending.add({
          added: isThere && before === undefined ? [session] : [],
          changed: isThere && before !== undefined ? [session] : [],
          removed: !isThere && before !== undefined ? [before] : [],
        });
        if (isTaken) apply(pending, known);
      }
      apply(pending, known);
      expect(known).toEqual(now);
    }),
  );
});

/** Takes the events; none may be of something that the reader does not know, or knows already. */
function apply(pending: PendingEvents, known: Map<string, ListedSession>): void {
  for (const { kind, session } of pending.take()) {
    expect(known.has(session.path)).toBe(kind !== "added");
    if (kind === "removed") known.delete(session.path);
    else known.set(session.path, session);
  }
}
