/** Deleting sessions: what goes, what stays, what is refused, and what is reported. */
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import {
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { openSession } from "@branchlog/core";
import { nodePorts } from "@branchlog/core/testing";
import { deleteSession, undoOperation } from "@branchlog/library";
import { checkpointPath } from "@branchlog/core/files";
import { live } from "@branchlog/core/live";
import { openFiles, tellsOpenFiles } from "../../support/open-files.ts";
import { temporaryDirectory } from "../../support/temporary-directory.ts";
import { message } from "../catalog/session-lines.ts";
import { fileOf, header } from "../../core/copies/session-files.ts";
import { Watching } from "../../core/live/watched-directory.ts";
import { seen, values } from "../../core/live/support.ts";
import { user } from "../../core/projections/sample-entries.ts";

function session(): string {
  return fileOf(header, user("1", null, "hello"));
}

function deadPid(): number {
  const pid = execFileSync(process.execPath, ["-p", "process.pid"], { encoding: "utf8" });
  return Number(pid);
}

describe("deleting a session", () => {
  it("keeps it for 30 days, and returns the operation", async () => {
    const path = session();
    const result = await deleteSession(path);
    expect(result).toMatchObject({ path, id: "source", how: "trash", removed: [], kept: [] });
    expect(readdirSync(dirname(path))).toEqual([]);
    await undoOperation(result.operation ?? "");
    expect(existsSync(path)).toBe(true);
  });

  it("removes it permanently on request", async () => {
    const path = session();
    const result = await deleteSession(path, { permanent: true });
    const facts = { path, id: "source", how: "unlinked", operation: null };
    expect(result).toEqual({ ...facts, removed: [], kept: [] });
    expect(readdirSync(dirname(path))).toEqual([]);
  });

  it("removes derived files, and keeps and lists files that may still be needed", async () => {
    const path = session();
    const checkpointDir = temporaryDirectory();
    const name = "0197c0de-0000-7000-8000-000000000000";
    const gone = [".ckpt", `.ckpt.${name}.tmp`, `.${name}.tmp`].map((end) => `${path}${end}`);
    gone.push(checkpointPath(path, checkpointDir));
    const stays = [".v1-original", ".v2-original-2", ".before-repair", ".salvage-3"];
    const kept = stays.map((end) => `${path}${end}`);
    for (const file of [...gone, ...kept]) writeFileSync(file, "x");
    const artifacts = path.replace(/\.jsonl$/, "");
    mkdirSync(artifacts);
    const others = [`${path}x`, `${path}.txt`, join(dirname(path), "other.jsonl.ckpt")];
    for (const file of others) writeFileSync(file, "x");
    const result = await deleteSession(path, { checkpointDir });
    expect(result.removed.toSorted()).toEqual(gone.toSorted());
    expect(result.kept.toSorted()).toEqual([...kept, artifacts].toSorted());
    for (const file of [...kept, artifacts, ...others]) expect(existsSync(file)).toBe(true);
    for (const file of [path, ...gone]) expect(existsSync(file)).toBe(false);
  });

  it("removes it from the catalog of its directory", async () => {
    const large = message("toolResult", [{ type: "text", text: "x".repeat(1_100_000) }]);
    const path = fileOf(header, user("1", null, "a secret"), large);
    const other = join(dirname(path), "other.jsonl");
    writeFileSync(other, readFileSync(path, "utf8").replace("a secret", "known to all"));
    const catalog = join(dirname(path), ".branchlog-catalog");
    const watching = new Watching(dirname(path));
    await watching.until(({ sessions }) => sessions.length === 2);
    watching.end();
    await expect.poll(() => existsSync(catalog)).toBe(true);
    await deleteSession(path);
    const left = readFileSync(catalog, "utf8");
    expect([left.includes("a secret"), left.includes("known to all")]).toEqual([false, true]);
    await deleteSession(other);
    expect(existsSync(catalog)).toBe(false);
  });
});

describe("a file that is not a session", () => {
  it.each([
    ["a file that is not there", (path: string) => `${path}.gone`, "ERR_LOG_MISSING"],
    ["a directory", (path: string) => dirname(path), "ERR_LOG_UNREADABLE"],
    ["a foreign file", (path: string) => written(path, "hello\n"), "ERR_NOT_A_SESSION"],
    ["an empty file", (path: string) => written(path, ""), "ERR_NOT_A_SESSION"],
    ["YAML", (path: string) => written(path, "name: x\nturns: []\n"), "ERR_NOT_A_SESSION"],
  ])("is not deleted: %s", async (_, make, code) => {
    const path = make(session());
    const before = existsSync(path);
    await expect(deleteSession(path, { force: true })).rejects.toMatchObject({ code, path });
    expect(existsSync(path)).toBe(before);
  });

  it("is not deleted: a symbolic link, or its target", async () => {
    const path = session();
    const link = join(temporaryDirectory(), "link.jsonl");
    symlinkSync(path, link);
    await expect(deleteSession(link, { force: true })).rejects.toMatchObject({
      code: "ERR_NOT_A_SESSION",
      message: expect.stringContaining(path) as unknown,
    });
    expect([existsSync(path), existsSync(link)]).toEqual([true, true]);
  });

  it("can be in a linked directory", async () => {
    const path = session();
    const link = join(temporaryDirectory(), "link");
    symlinkSync(dirname(path), link);
    const result = await deleteSession(join(link, "source.jsonl"));
    expect(result.path).toBe(path);
  });

  it("is not changed when it cannot be locked, with the reason", async () => {
    const path = session();
    const lock = written(`${path}.branchlog-lock`, "no directory");
    const long = new Date(Date.now() - 60_000);
    utimesSync(lock, long, long);
    const deletion = deleteSession(path);
    await expect(deletion).rejects.toMatchObject({
      code: "ERR_DELETE_FAILED",
      cause: { code: "ENOTDIR" },
    });
    expect(existsSync(path)).toBe(true);
  });
});

function written(path: string, text: string): string {
  writeFileSync(path, text);
  return path;
}

describe("a session with a writer", () => {
  it("is not deleted while its lock is held, unless forced", async () => {
    const path = session();
    const held = nodePorts.lock.tryAcquireSync(path);
    await expect(deleteSession(path)).rejects.toMatchObject({ code: "ERR_SESSION_BUSY", path });
    expect(existsSync(path)).toBe(true);
    expect(await deleteSession(path, { force: true })).toMatchObject({ how: "trash" });
    held?.releaseSync();
    expect(readdirSync(dirname(path))).toEqual([]);
  });

  it("is deleted with the lock of a process that died", async () => {
    const path = session();
    const lock = `${path}.branchlog-lock`;
    mkdirSync(lock);
    const long = new Date(Date.now() - 60_000);
    utimesSync(lock, long, long);
    await deleteSession(path);
    expect(readdirSync(dirname(path))).toEqual([]);
  });

  it.each([".lock", "hidden"])("is not deleted while omp holds its own lock (%s)", async (form) => {
    const path = session();
    const lock = form === "hidden" ? join(dirname(path), ".source.jsonl.lock") : `${path}${form}`;
    const child = spawn(process.execPath, ["-e", "setInterval(() => {}, 1000)"]);
    await once(child, "spawn");
    const long = new Date(Date.now() - 60_000);
    try {
      writeFileSync(lock, `${child.pid}:1`);
      utimesSync(lock, long, long);
      await expect(deleteSession(path)).rejects.toMatchObject({ code: "ERR_SESSION_BUSY" });
    } finally {
      child.kill();
    }
    writeFileSync(lock, "unreadable");
    await expect(deleteSession(path)).rejects.toMatchObject({ code: "ERR_SESSION_BUSY" });
    writeFileSync(lock, `${deadPid()}:1`);
    utimesSync(lock, long, long);
    await deleteSession(path);
    expect(existsSync(path)).toBe(false);
  });
});

describe("a subscriber", () => {
  it("a directory reports the session as removed", async () => {
    const path = session();
    const watching = new Watching(dirname(path), { pollMs: 20 });
    await watching.until(({ sessions }) => sessions.length === 1);
    await deleteSession(path);
    const { removed } = await watching.until(({ sessions }) => sessions.length === 0);
    expect(removed.map((one) => one.path)).toEqual([path]);
    watching.end();
  });

  it("the session reports it as deleted, and keeps no file open", async () => {
    const path = session();
    const open = await openSession(path, { pollMs: 20 });
    const status = seen(live(open).status$);
    await expect.poll(() => values(status).at(-1)?.kind).toBe("live");
    await deleteSession(path);
    await expect
      .poll(() => values(status).at(-1))
      .toMatchObject({ kind: "stalled", error: { code: "ERR_LOG_GONE" } });
    const append = open.append({ type: "custom", customType: "x" });
    await expect(append).rejects.toMatchObject({ code: "ERR_LOG_GONE" });
    expect(existsSync(path)).toBe(false);
    if (tellsOpenFiles) expect(openFiles(path)).toEqual([]);
    await expect(open.recover()).rejects.toMatchObject({ code: "ERR_LOG_GONE" });
    expect(existsSync(path)).toBe(false);
    status.unsubscribe();
    await open.close();
  });
});
