/** Creating sessions, appending to them, and what is left when that fails. */
import {
  appendFileSync,
  readFileSync,
  statSync,
  readdirSync,
  rmdirSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { createSession, memorySession, openSession, openOrCreateSession } from "@branchlog/core";
import type { Session } from "@branchlog/core";
import {
  jsonLines,
  userDraft,
  userEntry,
  MemoryFileSystem,
  createMemoryPorts,
} from "@branchlog/core/testing";
import { reproducible } from "../../support/reproducible-ports.ts";
import { temporaryDirectory } from "../../support/temporary-directory.ts";

async function newSession(name = "s.jsonl"): Promise<Session> {
  const path = join(temporaryDirectory(), name);
  return createSession(path, { cwd: "/w", id: "s", ports: reproducible() });
}

describe("appending", () => {
  it("persists a move as an entry that other programs use as the leaf", async () => {
    const session = await newSession();
    const first = await session.append(userDraft("1"));
    await session.append(userDraft("2"));
    await session.moveTo(first.id, { persist: true });
    const again = await openSession(session.path);
    expect((await again.context()).messages).toHaveLength(1);
  });

  it("rejects a batch over the limit and writes nothing", async () => {
    const path = join(temporaryDirectory(), "s.jsonl");
    const session = await createSession(path, { batchBytesMax: 1000 });
    const before = readFileSync(path);
    const batch = session.appendAll([userDraft("x".repeat(600)), userDraft("y".repeat(600))]);
    await expect(batch).rejects.toMatchObject({ code: "ERR_INVALID_ARGUMENT" });
    expect(await session.appendAll([])).toEqual([]);
    expect(readFileSync(path)).toEqual(before);
    await session.append(userDraft("x".repeat(5000)));
  });

  it("mints an id that is neither an entry nor a parent, and fails after 100 tries", async () => {
    const offered = ["taken", "missing", "free"];
    let tries = 0;
    const entryId = (): string => {
      tries += 1;
      return offered.shift() ?? "taken";
    };
    const ports = { ids: { ...reproducible().ids, entryId } };
    const session = await createSession(join(temporaryDirectory(), "s.jsonl"), { ports });
    appendFileSync(session.path, jsonLines(userEntry("taken", "missing", "x")));
    await session.refresh();
    expect(await session.append(userDraft("1"))).toMatchObject({ id: "free" });
    tries = 0;
    await expect(session.append(userDraft("2"))).rejects.toMatchObject({
      code: "ERR_APPEND_FAILED",
    });
    expect(tries).toBe(100);
  });

  it("refuses to write when opened for reading, or after close", async () => {
    const session = await newSession();
    const reader = await openSession(session.path, { access: "read" });
    await expect(reader.append(userDraft("1"))).rejects.toMatchObject({ code: "ERR_READ_ONLY" });
    await session.close();
    await expect(session.append(userDraft("1"))).rejects.toMatchObject({ code: "ERR_CLOSED" });
    await expect(session.lines().next()).rejects.toMatchObject({ code: "ERR_CLOSED" });
    expect(() => session.tips()).toThrow(expect.objectContaining({ code: "ERR_CLOSED" }));
  });

  it("keeps a memory session off the disk", async () => {
    const session = await memorySession({ cwd: "/w" });
    await session.append(userDraft("1"));
    expect((await session.context()).messages).toMatchObject([{ content: "1" }]);
    expect(() => statSync(session.path)).toThrow("ENOENT");
  });
});

const path = "/a/b/s.jsonl";

describe("creating a session", () => {
  it("touches nothing for an invalid header", async () => {
    const fs = new MemoryFileSystem();
    const ports = createMemoryPorts({ fs });
    const invalid = createSession(path, { ports, id: "../x" });
    await expect(invalid).rejects.toMatchObject({ code: "ERR_INVALID_SESSION_ID" });
    const cwd: unknown = 10n;
    // A caller without types.
    const placeless = createSession(path, { ports, cwd: cwd as string });
    await expect(placeless).rejects.toMatchObject({ code: "ERR_INVALID_ARGUMENT" });
    expect(fs.callCount("makeDirectorySync")).toBe(0);
  });

  it("reports a missing working directory when it is needed", async () => {
    const before = process.cwd();
    const directory = temporaryDirectory();
    process.chdir(directory);
    onTestFinished(() => process.chdir(before));
    rmdirSync(directory);
    const ports = createMemoryPorts();
    const failed = { code: "ERR_CREATE_FAILED", cause: { code: "ENOENT" } };
    await expect(createSession(path, { ports })).rejects.toMatchObject(failed);
    await expect(memorySession()).rejects.toMatchObject(failed);
    expect((await createSession(path, { ports, cwd: "/w" })).header.cwd).toBe("/w");
  });
});

describe("opening a session or creating it", () => {
  it("creates a missing log, and opens it unchanged the next time", async () => {
    const ports = createMemoryPorts();
    const first = await openOrCreateSession(path, { ports, cwd: "/w", id: "first" });
    const { id } = await first.append({ type: "custom", customType: "x:y" });
    const second = await openOrCreateSession(path, { ports, cwd: "/other", id: "second" });
    expect(second.header).toMatchObject({ id: "first", cwd: "/w" });
    expect(second.tail).toBe(id);
  });

  it("is one log for concurrent calls", async () => {
    const file = join(temporaryDirectory(), "s.jsonl");
    const all = await Promise.all(
      Array.from({ length: 8 }, () => openOrCreateSession(file, { cwd: "/w" })),
    );
    expect(new Set(all.map(({ header }) => header.id)).size).toBe(1);
    await Promise.all(all.map((one) => one.append({ type: "custom", customType: "x:y" })));
    expect((await openSession(file, { access: "read" })).revision).toBe(8);
  });

  it("creates nothing for a reader, or next to a file that is not a session", async () => {
    const directory = temporaryDirectory();
    const file = join(directory, "s.jsonl");
    const reader = openOrCreateSession(file, { access: "read" });
    await expect(reader).rejects.toMatchObject({ code: "ERR_LOG_MISSING" });
    expect(readdirSync(directory)).toEqual([]);
    writeFileSync(file, "text");
    const foreign = openOrCreateSession(file, { cwd: "/w" });
    await expect(foreign).rejects.toMatchObject({ code: "ERR_NOT_A_SESSION" });
    expect(readFileSync(file, "utf8")).toBe("text");
  });

  it("keeps the leaf of a new log in place without follow", async () => {
    const ports = createMemoryPorts();
    const pinned = await openOrCreateSession(path, { ports, cwd: "/w", follow: false });
    const other = await openSession(path, { ports });
    await other.append({ type: "session_info", name: "First" });
    await pinned.refresh();
    expect([pinned.leaf, pinned.tail]).toEqual([null, other.tail]);
  });
});
