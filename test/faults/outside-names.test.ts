/**
 * What comes from outside and must not get further than it should: ids and names that look like
 * paths, a umask that allows everything, versions that are not known yet.
 */
import { chmodSync, readFileSync, readdirSync, lstatSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createSession, openSession } from "@branchlog/core";
import { SessionManager } from "@branchlog/agents/pi";
import { nodePorts } from "@branchlog/core/testing";
import { temporaryDirectory } from "../support/temporary-directory.ts";
import { thrownBy } from "../support/typed-errors.ts";

const time = "2026-01-01T00:00:00.000Z";
const hostileNames = ["../up", "a/b", "/etc/passwd", "..", ".", "", "a\0b", "a\\b", "-"];

/** Everything below a directory, with its permission bits. */
function modesBelow(directory: string): (readonly [string, string])[] {
  const names = readdirSync(directory, { recursive: true, encoding: "utf8" });
  return names.flatMap((name) => {
    const stats = lstatSync(join(directory, name));
    // The text of a link is for everybody, whatever its mode.
    return stats.isSymbolicLink() ? [] : [[name, (stats.mode & 0o777).toString(8)] as const];
  });
}

function oldLog(path: string): void {
  const header = `{"type":"session","id":"s","timestamp":"${time}","cwd":"/w"}`;
  const entry = `{"type":"message","timestamp":"${time}","message":{"role":"user","content":"x","timestamp":1}}`;
  writeFileSync(path, `${header}\n${entry}\n`);
}

describe("files and directories under a umask of 0", () => {
  let umask = 0;
  beforeEach(() => {
    umask = process.umask(0);
  });
  afterEach(() => {
    process.umask(umask);
  });

  it.runIf(process.platform !== "win32")("are private to their owner (Verifies: P23)", async () => {
    const root = temporaryDirectory();
    const session = await createSession(join(root, "made/deep/s.jsonl"));
    await session.append({ type: "custom", customType: "x" });
    const old = join(root, "made/old.jsonl");
    oldLog(old);
    chmodSync(old, 0o600);
    await (await openSession(old)).append({ type: "custom", customType: "x" });
    const manager = SessionManager.create("/w", join(root, "sessions/deep"));
    manager.appendMessage({ role: "user", content: "x", timestamp: 1 });
    SessionManager.forkFrom(session.path, "/w", join(root, "forks"));
    const held = nodePorts.lock.tryAcquireSync(session.path);
    const modes = modesBelow(root);
    held?.releaseSync();
    const directories = modes.filter(([, mode]) => mode === "700").map(([name]) => name);
    expect(modes.filter(([, mode]) => mode !== "700" && mode !== "600")).toEqual([]);
    expect(directories.toSorted()).toEqual([
      "forks",
      "made",
      "made/deep",
      "sessions",
      "sessions/deep",
    ]);
    // The log, the migrated one and its original, the published draft, the fork.
    expect(modes).toHaveLength(directories.length + 5);
  });
});

it.each(hostileNames)(
  "external ids and names never become part of a path: %j (Verifies: P23)",
  async (name) => {
    const root = temporaryDirectory();
    const sessions = join(root, "sessions");
    const invalid = { code: "ERR_INVALID_SESSION_ID" };
    const path = join(sessions, "s.jsonl");
    await expect(createSession(path, { id: name })).rejects.toMatchObject(invalid);
    const refused = thrownBy(() => SessionManager.create("/w", sessions, { id: name }));
    expect(refused).toMatchObject(invalid);
    const header = { type: "session", version: 3, id: name, timestamp: `/${name}`, cwd: "/w" };
    const message = { role: "user", content: name, timestamp: 1 };
    const entry = { type: "message", id: `/${name}`, parentId: null, timestamp: time, message };
    writeFileSync(path, `${JSON.stringify(header)}\n${JSON.stringify(entry)}\n`);
    const manager = SessionManager.open(path, sessions);
    manager.appendSessionInfo(name);
    SessionManager.forkFrom(path, "/w", sessions);
    manager.createBranchedSession(entry.id);
    manager.newSession();
    manager.appendMessage({ role: "user", content: name, timestamp: 1 });
    expect(readdirSync(root)).toEqual(["sessions"]);
    const names = readdirSync(sessions);
    expect(names).toHaveLength(4);
    for (const one of names) expect(one).toMatch(/^(s|[\dTZ-]+_[\da-f-]{36})\.jsonl$/u);
  },
);

describe("a log of an unknown newer version", () => {
  const newer = `{"type":"session","version":4,"id":"s","timestamp":"${time}","cwd":"/w"}`;
  const entry = `{"type":"message","id":"a","parentId":null,"timestamp":"${time}","message":{"role":"user","content":"x","timestamp":1}}`;

  it("is read, and not written unless forced; its version stays (Verifies: P24)", async () => {
    const path = join(temporaryDirectory(), "s.jsonl");
    writeFileSync(path, `${newer}\n${entry}\n`);
    const before = readFileSync(path);
    const session = await openSession(path);
    expect(await session.branch()).toHaveLength(1);
    const draft = { type: "custom", customType: "x" } as const;
    const refusal = { code: "ERR_VERSION_NEWER" };
    await expect(session.append(draft)).rejects.toMatchObject(refusal);
    await expect(session.appendAll([draft, draft])).rejects.toMatchObject(refusal);
    await expect(session.moveTo("a", { persist: true })).rejects.toMatchObject(refusal);
    const manager = SessionManager.open(path);
    expect(thrownBy(() => manager.appendCustomEntry("x"))).toMatchObject(refusal);
    expect(readFileSync(path)).toEqual(before);
    const forced = await openSession(path, { allowNewerVersion: true });
    await forced.append(draft);
    expect(readFileSync(path).indexOf(before)).toBe(0);
    expect(readdirSync(join(path, ".."))).toEqual(["s.jsonl"]);
  });
});
