/** Creating a session, and what is left when that fails. */
import { rmdirSync } from "node:fs";
import { describe, expect, it, onTestFinished } from "vitest";
import { createSession, isBranchlogError, memorySession, openSession } from "@branchlog/core";
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
