/** Creating a session, and what is left when that fails. */
import { rmdirSync } from "node:fs";
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
import { failingFileSystem } from "../store/failing-file-system.ts";

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
      const open = exists ? openSession : createSession;
      expect((await open(path, { ports })).header.type).toBe("session");
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

describe("opening or creating a session", () => {
  it("creates what is missing, and opens what is there, with the options of each", async () => {
    const ports = createMemoryPorts();
    const created = await openOrCreateSession(path, { ports, cwd: "/w", id: "one" });
    await created.append({ type: "session_info", name: "First" });
    const opened = await openOrCreateSession(path, { ports, cwd: "/v", id: "two", follow: false });
    expect(opened.header).toMatchObject({ id: "one", cwd: "/w" });
    expect([opened.name, opened.tail]).toEqual(["First", created.tail]);
    await created.append({ type: "session_info", name: "Second" });
    await opened.refresh();
    expect(opened.leaf).not.toBe(created.leaf);
  });

  it("keeps the leaf of a new log in place where it shall not follow", async () => {
    const ports = createMemoryPorts();
    const pinned = await openOrCreateSession(path, { ports, cwd: "/w", follow: false });
    const other = await openSession(path, { ports });
    await other.append({ type: "session_info", name: "First" });
    await pinned.refresh();
    expect([pinned.leaf, pinned.tail]).toEqual([null, other.tail]);
  });

  it("makes one log of which all are sessions, when many do so at once", async () => {
    const directory = temporaryDirectory();
    const many = Array.from({ length: 20 }, (_, at) =>
      openOrCreateSession(`${directory}/s.jsonl`, { cwd: "/w", id: `s${at}` }),
    );
    const ids = (await Promise.all(many)).map(({ header }) => header.id);
    expect(new Set(ids).size).toBe(1);
  });

  it("fails for a file that is no session as opening it does, and leaves it as it is", async () => {
    const fs = new MemoryFileSystem();
    const ports = createMemoryPorts({ fs });
    fs.writeFileSync("/s.jsonl", Buffer.from("hello\n"));
    const failure = openOrCreateSession("/s.jsonl", { ports, cwd: "/w" });
    await expect(failure).rejects.toMatchObject({ code: "ERR_NOT_A_SESSION" });
    expect(fs.readFileSync("/s.jsonl").toString()).toBe("hello\n");
  });

  it("refuses an option that neither has", async () => {
    const options: object = { cwb: "/w" };
    await expect(openOrCreateSession(path, options)).rejects.toMatchObject({
      code: "ERR_INVALID_ARGUMENT",
    });
  });
});
