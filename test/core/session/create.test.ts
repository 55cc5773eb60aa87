/** Creating a session, and what is left when that fails. */
import { readdirSync, readFileSync, rmdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import {
  createSession,
  isBranchlogError,
  memorySession,
  openOrCreateSession,
  openSession,
} from "@branchlog/core";
import { MemoryFileSystem, createMemoryPorts } from "@branchlog/core/testing";
import { temporaryDirectory } from "../../support/temporary-directory.ts";
import { failingFileSystem } from "../platform/failing-file-system.ts";

const path = "/a/b/s.jsonl";

describe("creating a session", () => {
  it("makes the directories that are missing", async () => {
    const fs = new MemoryFileSystem();
    const session = await createSession(path, { ports: createMemoryPorts({ fs }), cwd: "/w" });
    expect(fs.listSync("/a/b")).toEqual(["s.jsonl"]);
    expect(session.header).toMatchObject({ type: "session", version: 3, cwd: "/w" });
  });

  it("fails with a code, whichever call fails, and can be done again", async () => {
    for (let number = 1; ; number += 1) {
      const { fs, failed } = failingFileSystem((call) => call === number);
      const ports = createMemoryPorts({ fs });
      const error: unknown = await createSession(path, { ports, cwd: "/w" }).then(
        () => undefined,
        (reason: unknown) => reason,
      );
      fs.onCall = undefined;
      const exists = fs.statSync(path) !== null;
      if (failed.length === 0) break;
      if (error !== undefined) expect(isBranchlogError(error)).toBe(true);
      const opening = exists ? openSession(path, { ports }) : createSession(path, { ports });
      expect((await opening).header.type).toBe("session");
    }
  });

  it("touches nothing for a header that cannot be one", async () => {
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

  it("says that the working directory is gone, where it is needed", async () => {
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
  it("creates a missing log, and opens it the next time as it is", async () => {
    const ports = createMemoryPorts();
    const first = await openOrCreateSession(path, { ports, cwd: "/w", id: "first" });
    const { id } = await first.append({ type: "custom", customType: "x:y" });
    const second = await openOrCreateSession(path, { ports, cwd: "/other", id: "second" });
    expect(second.header).toMatchObject({ id: "first", cwd: "/w" });
    expect(second.tail).toBe(id);
  });

  it("is one log for all that do so at once", async () => {
    const file = join(temporaryDirectory(), "s.jsonl");
    const all = await Promise.all(
      Array.from({ length: 8 }, () => openOrCreateSession(file, { cwd: "/w" })),
    );
    expect(new Set(all.map(({ header }) => header.id)).size).toBe(1);
    await Promise.all(all.map((one) => one.append({ type: "custom", customType: "x:y" })));
    expect((await openSession(file, { access: "read" })).revision).toBe(8);
  });

  it("opens the log of another process that was faster", async () => {
    const fs = new MemoryFileSystem();
    const ports = createMemoryPorts({ fs });
    // Of the two that begin together, the second finds the log missing and then there.
    const both = await Promise.all([
      openOrCreateSession(path, { ports, cwd: "/w", id: "one" }),
      openOrCreateSession(path, { ports, cwd: "/w", id: "two" }),
    ]);
    expect(new Set(both.map(({ header }) => header.id)).size).toBe(1);
  });

  it("creates nothing for a reader, or beside a file that is no session", async () => {
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

  it("keeps the leaf of a new log in place where it shall not follow", async () => {
    const ports = createMemoryPorts();
    const pinned = await openOrCreateSession(path, { ports, cwd: "/w", follow: false });
    const other = await openSession(path, { ports });
    await other.append({ type: "session_info", name: "First" });
    await pinned.refresh();
    expect([pinned.leaf, pinned.tail]).toEqual([null, other.tail]);
  });
});
