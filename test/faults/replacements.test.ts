/**
 * Other programs put another log, of any version, in the place of one that is being opened, read or
 * appended to, at every call of the file system: what was read is one of the two, never a mixture;
 * an append is in the log that has the name, or an error says that it is not; neither log is lost.
 */
import { describe, expect, it } from "vitest";
import { isBranchlogError, openSession } from "@branchlog/core";
import { MemoryFileSystem, createMemoryPorts } from "@branchlog/core/testing";
import type { Ports } from "@branchlog/core/testing";
import { rejection } from "../support/typed-errors.ts";
import { BlockingSession } from "../support/blocking-session.ts";

const path = "/s.jsonl";
const stamp = "2026-01-01T00:00:00.000Z";
const entriesPerLog = 4;

/** A log of a version whose messages say which log they are from; one of them does not parse. */
function logOf(version: number, word: string): Buffer {
  const header = { type: "session", ...(version > 1 && { version }), id: word, timestamp: stamp };
  const lines = Array.from({ length: entriesPerLog }, (_, i) => {
    const links = { id: `${word}${i}`, parentId: i === 0 ? null : `${word}${i - 1}` };
    const message = { role: "user", content: `${word} ${i}`, timestamp: 1 };
    const stored = { type: "message", ...(version > 1 && links), timestamp: stamp, message };
    return JSON.stringify(stored);
  });
  const torn = `${lines[0]?.replace(`${word}0`, `${word}-torn`).slice(0, -20)}}}`;
  return Buffer.from([JSON.stringify(header), ...lines, torn, ""].join("\n"));
}

interface World {
  readonly fs: MemoryFileSystem;
  readonly ports: Ports;
  /** The calls so far, as name and path. */
  readonly calls: string[];
}

/** A log, and another one that takes its name right before a call; -1: never. */
function world(from: number, to: number, replaceAt: number): World {
  const fs = new MemoryFileSystem();
  fs.writeFileSync(path, logOf(from, "old"));
  fs.writeFileSync("/other", logOf(to, "new"));
  return { fs, ports: createMemoryPorts({ fs }), calls: replaceBefore(fs, replaceAt) };
}

/** From now on: the calls, and the other log in the place of the first before one of them. */
function replaceBefore(fs: MemoryFileSystem, replaceAt: number): string[] {
  const calls: string[] = [];
  fs.onCall = ({ name, path: at = "" }) => {
    calls.push(`${name} ${at}`);
    if (calls.length - 1 === replaceAt) fs.renameSync("/other", path);
    return undefined;
  };
  return calls;
}

/** What the messages of a log say, read again without anything happening meanwhile. */
function contents({ fs, ports }: World, at = path): string[] {
  const { onCall } = fs;
  fs.onCall = undefined;
  const texts = textsIn(BlockingSession.open(at, { ports }));
  fs.onCall = onCall;
  return texts;
}

function textsIn(session: BlockingSession): string[] {
  return session
    .entries()
    .map((entry) =>
      entry.type === "message" && "content" in entry.message
        ? JSON.stringify(entry.message.content)
        : entry.type,
    );
}

const textsOf = (word: string): string[] =>
  Array.from({ length: entriesPerLog }, (_, i) => `"${word} ${i}"`);
const pairs = [1, 2, 3].flatMap((from) => [1, 2, 3].map((to) => [from, to] as const));

describe.each(pairs)("opening a log of version %i that one of version %i replaces", (from, to) => {
  it("reads one of the two at any time, and then the other (Verifies: P8)", async () => {
    for (let n = 0; ; n += 1) {
      const one = world(from, to, n);
      const blocking = BlockingSession.open(path, { ports: one.ports });
      const wasReplaced = one.calls.length > n;
      const read = textsIn(blocking);
      expect([textsOf("old"), textsOf("new")]).toContainEqual(read);
      expect(blocking.header.id).toBe(read[0]?.slice(1, 4));
      blocking.refresh();
      if (one.calls.length > n) expect(textsIn(blocking)).toEqual(textsOf("new"));

      const other = world(from, to, n);
      const session = await openSession(path, { ports: other.ports });
      expect(["old", "new"]).toContain(session.header.id);
      await session.refresh();
      const { messages } = await session.context();
      if (other.calls.length > n) expect(messages).toHaveLength(entriesPerLog);
      if (!wasReplaced) break;
    }
  });
});

it("a log that is replaced repeatedly opens as one of them, or fails with that error", () => {
  for (const every of [1, 2, 3, 5, 8, 13]) {
    const { fs, ports } = world(3, 3, -1);
    let calls = 0;
    let isReplacing = false;
    fs.onCall = () => {
      if (isReplacing || (calls += 1) % every !== 0) return undefined;
      isReplacing = true;
      fs.writeFileSync("/next", logOf(1 + (calls % 3), calls % 2 === 0 ? "old" : "new"));
      fs.renameSync("/next", path);
      isReplacing = false;
      return undefined;
    };
    let session: BlockingSession | undefined;
    try {
      session = BlockingSession.open(path, { ports });
    } catch (error) {
      expect(isBranchlogError(error, "ERR_LOG_GONE")).toBe(true);
    }
    fs.onCall = undefined;
    session?.refresh();
    const now = textsIn(session ?? BlockingSession.open(path, { ports }));
    expect([textsOf("old"), textsOf("new")]).toContainEqual(now);
  }
});

it("opening a log during its deletion reads it completely, or fails with that error", () => {
  for (let n = 0; ; n += 1) {
    const { fs, ports } = world(3, 3, -1);
    let calls = 0;
    fs.onCall = () => {
      calls += 1;
      if (calls === n + 1) fs.unlinkSync(path);
      return undefined;
    };
    try {
      const session = BlockingSession.open(path, { ports });
      expect(textsIn(session)).toEqual(textsOf("old"));
    } catch (error) {
      const codes = ["ERR_LOG_MISSING", "ERR_LOG_GONE", "ERR_LOG_UNREADABLE"] as const;
      expect(codes.some((code) => isBranchlogError(error, code))).toBe(true);
    }
    if (calls <= n) break;
  }
});

interface Outcome {
  readonly id: string | undefined;
  readonly error: unknown;
}

function append(session: BlockingSession): Outcome {
  try {
    const [result] = session.append({ draft: { type: "custom", customType: "mine" } });
    return { id: result?.id, error: undefined };
  } catch (error) {
    return { id: undefined, error };
  }
}

/** An append during which another log takes the name right before a call. */
function appendWhileReplaced(from: number, to: number, replaceAt: number): World & Outcome {
  const made = world(from, to, -1);
  const session = BlockingSession.open(path, { ports: made.ports });
  const calls = replaceBefore(made.fs, replaceAt);
  const outcome = append(session);
  made.fs.onCall = undefined;
  return { ...made, calls, ...outcome };
}

describe.each(pairs)("appending to a log of version %i that one of %i replaces", (from, to) => {
  const { calls } = appendWhileReplaced(from, to, -1);
  const rename = calls.findIndex((call) => call.startsWith("renameSync"));

  it("is written to the log with the name, or fails with a code and can be repeated", () => {
    for (let n = 0; n < calls.length; n += 1) {
      const made = appendWhileReplaced(from, to, n);
      const { fs, ports, id, error } = made;
      if (error !== undefined) {
        expect(isBranchlogError(error, "ERR_APPEND_FAILED") && error.written).toEqual([]);
        expect(contents(made)).not.toContain("custom");
      }
      // Right before the rename of a migration, nothing shows that the name went to another log.
      const names = fs.listSync("/").filter((name) => name !== "other");
      const everything = names.map((name) => fs.readFileSync(`/${name}`).toString()).join("");
      for (const i of [0, 1, 2, 3]) if (n !== rename) expect(everything).toContain(`new ${i}`);
      if (n !== rename) expect(contents(made).slice(0, entriesPerLog)).toEqual(textsOf("new"));
      expect(names.filter((name) => name.endsWith(".tmp"))).toEqual([]);

      const again = BlockingSession.open(path, { ports });
      if (id !== undefined) expect(again.entry(id)).toMatchObject({ customType: "mine" });
      const next = append(again);
      expect(next.error).toBeUndefined();
      const wanted = id === undefined ? 1 : 2;
      const now = BlockingSession.open(path, { ports });
      expect(now.header.version).toBe(3);
      expect(contents(made).filter((text) => text === "custom")).toHaveLength(wanted);
      expect(now.tail).toBe(next.id);
    }
  });
});

describe("a log that an older one replaces while it is open", () => {
  it("is read as the older one, with the ids of every reader", async () => {
    const { fs, ports } = world(3, 1, -1);
    const session = await openSession(path, { ports });
    const own = await session.append({ type: "custom", customType: "mine" });
    fs.renameSync("/other", path);
    await session.refresh();
    expect(session.header).toMatchObject({ id: "new" });
    expect(session.header).not.toHaveProperty("version");
    expect(session.revision).toBe(entriesPerLog);
    const fresh = await openSession(path, { ports, access: "read" });
    expect(session.tail).toBe(fresh.tail);
    expect((await session.branch(session.tail)).map(({ id }) => id)).toEqual(
      (await fresh.branch()).map(({ id }) => id),
    );
    const lost = session.diagnostics.filter(({ kind }) => kind === "lost-entries");
    expect(lost).toMatchObject([{ id: own.id }]);
    expect(fs.readFileSync(path)).toEqual(logOf(1, "new"));
  });

  it("is migrated by the next append, and its original kept", async () => {
    const { fs, ports } = world(3, 1, -1);
    const session = await openSession(path, { ports });
    fs.renameSync("/other", path);
    // Under the lock it is too late to migrate; the next append knows.
    const failed = await rejection(session.append({ type: "custom", customType: "mine" }));
    expect(failed === undefined || isBranchlogError(failed, "ERR_APPEND_FAILED")).toBe(true);
    await session.follow();
    const { tail } = session;
    const result = await session.append({ type: "custom", customType: "mine" });
    expect(result.parentId).toBe(tail);
    expect(fs.readFileSync(`${path}.v1-original`)).toEqual(logOf(1, "new"));
    const again = await openSession(path, { ports });
    expect(again.header.version).toBe(3);
    expect(await again.branch()).toHaveLength(entriesPerLog + 1);
  });
});
