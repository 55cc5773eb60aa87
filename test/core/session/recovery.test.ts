/** Logs that are deleted under a session, on real files: recoverable logs, and reports. */
import {
  appendFileSync,
  existsSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { createSession, openSession } from "@branchlog/core";
import type { Session } from "@branchlog/core";
import { nodePorts, userDraft } from "@branchlog/core/testing";
import { descriptorPoolOf } from "@branchlog/core/files";
import { observedFileSystem } from "../../support/observed-file-system.ts";
import { temporaryDirectory } from "../../support/temporary-directory.ts";

const nothing = { isRestored: false, appendedAgain: [] };

async function newSession(): Promise<Session> {
  const session = await createSession(join(temporaryDirectory(), "dir", "s.jsonl"), { cwd: "/w" });
  await session.append(userDraft("1"));
  return session;
}

describe("a log that was deleted", () => {
  it("is written back completely, including entries of others, and continues", async () => {
    const session = await newSession();
    const other = await openSession(session.path);
    const { id: foreign } = await other.append(userDraft("of another"));
    appendFileSync(session.path, '{"torn');
    const before = readFileSync(session.path);
    const { leaf } = session;
    unlinkSync(session.path);
    const late = session.append(userDraft("2"));
    await expect(late).rejects.toMatchObject({ code: "ERR_LOG_GONE", written: [] });
    expect(existsSync(session.path)).toBe(false);

    expect(await session.recover()).toEqual({ isRestored: true, appendedAgain: [] });
    expect(readFileSync(session.path)).toEqual(before);
    expect(statSync(session.path).mode & 0o777).toBe(0o600);
    const second = await session.append(userDraft("2"));
    expect(second.parentId).toBe(leaf);
    expect((await session.entry(foreign))?.id).toBe(foreign);
    expect(session.diagnostics.filter(({ kind }) => kind === "lost-entries")).toEqual([]);
    expect((await openSession(session.path)).revision).toBe(3);
  });

  it("is written back together with its directory", async () => {
    const session = await newSession();
    rmSync(dirname(session.path), { recursive: true });
    expect(await session.recover()).toMatchObject({ isRestored: true });
    await session.append(userDraft("2"));
    expect((await openSession(session.path)).revision).toBe(2);
  });

  it("is reported as lost when it is no longer open here", async () => {
    const session = await newSession();
    unlinkSync(session.path);
    descriptorPoolOf(nodePorts.fs).closePath(session.path);
    await expect(session.recover()).rejects.toMatchObject({ code: "ERR_LOG_GONE" });
    expect(existsSync(session.path)).toBe(false);
  });

  it("does not replace another file with its name", async () => {
    const session = await newSession();
    const before = readFileSync(session.path);
    unlinkSync(session.path);
    // As an agent does that appends without looking.
    writeFileSync(session.path, '{"type":"custom","id":"z","parentId":null}\n');
    await expect(session.recover()).rejects.toMatchObject({ code: "ERR_HEADER_DAMAGED" });
    renameSync(session.path, `${session.path}.other`);
    expect(await session.recover()).toMatchObject({ isRestored: true });
    expect(readFileSync(session.path)).toEqual(before);
  });

  /** A session on a file system on which `act` comes before the log is written back. */
  async function restoredAfter(act: (path: string, bytes: Buffer) => void): Promise<Session> {
    const path = join(temporaryDirectory(), "s.jsonl");
    let bytes: Buffer | undefined;
    const fs = observedFileSystem(nodePorts.fs, (call, effect) => {
      if (call.name === "linkSync" && bytes !== undefined) act(path, bytes);
      return effect();
    });
    const session = await createSession(path, { cwd: "/w", ports: { fs } });
    await session.append(userDraft("1"));
    bytes = readFileSync(path);
    unlinkSync(path);
    return session;
  }

  it("is not written back when another session already did", async () => {
    const session = await restoredAfter((path, bytes) => writeFileSync(path, bytes));
    expect(await session.recover()).toEqual(nothing);
    expect(session.revision).toBe(1);
    const { id } = await session.append(userDraft("2"));
    expect((await openSession(session.path)).leaf).toBe(id);
  });

  it("stays missing, and its session reports it, when it cannot be written", async () => {
    const session = await restoredAfter(() => {
      throw Object.assign(new Error("ENOSPC: no space left on device, link"), { code: "ENOSPC" });
    });
    await expect(session.recover()).rejects.toMatchObject({ code: "ERR_CREATE_FAILED" });
    expect(existsSync(session.path)).toBe(false);
  });

  it("is not written back by a read-only session", async () => {
    const session = await newSession();
    const reader = await openSession(session.path, { access: "read" });
    unlinkSync(session.path);
    await expect(reader.recover()).rejects.toMatchObject({ code: "ERR_READ_ONLY" });
    expect(existsSync(session.path)).toBe(false);
  });
});

it("a complete log is not changed", async () => {
  const session = await newSession();
  const before = readFileSync(session.path);
  expect(await session.recover()).toEqual(nothing);
  expect(readFileSync(session.path)).toEqual(before);
});
