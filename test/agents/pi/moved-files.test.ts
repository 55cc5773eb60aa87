/** Files and directories that are moved or removed under a manager, and what outlives a reopening. */
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { SessionManager } from "@branchlog/agents/pi";
import { temporaryDirectory } from "../../support/temporary-directory.ts";
import { answer, idsOf, say } from "./managers.ts";

/** Without its directory a log cannot even be locked. */
const missed: unknown = expect.stringMatching(/^ERR_(LOG_GONE|APPEND_FAILED)$/u);

/** A session in a directory of its own, with two messages. */
function session(): { readonly sessions: string; readonly manager: SessionManager } {
  const sessions = join(temporaryDirectory(), "sessions");
  const manager = SessionManager.create("/work", sessions);
  say(manager, "1");
  answer(manager, "2");
  return { sessions, manager };
}

describe("the directory of a session", () => {
  it("is made anew if it went before the session had a file", () => {
    const sessions = join(temporaryDirectory(), "deep", "sessions");
    const manager = SessionManager.create("/work", sessions);
    rmSync(join(sessions, ".."), { recursive: true });
    const id = say(manager, "1");
    expect(SessionManager.open(manager.getSessionFile() ?? "").getLeafId()).toBe(id);
  });

  it("that was moved away is missed, and nothing is made in its place (Verifies: P12)", () => {
    const { sessions, manager } = session();
    const path = manager.getSessionFile();
    const before = [manager.getLeafId(), manager.getEntryCount()];
    renameSync(sessions, `${sessions}-moved`);
    // pi 1.5.2 fails with ENOENT, or writes a file without a header once the directory is back.
    expect(() => say(manager, "3")).toThrow(expect.objectContaining({ code: missed, path }));
    expect(existsSync(sessions)).toBe(false);
    expect([manager.getLeafId(), manager.getEntryCount()]).toEqual(before);
    mkdirSync(sessions);
    expect(() => say(manager, "3")).toThrow(expect.objectContaining({ code: "ERR_LOG_GONE" }));
    expect(readdirSync(sessions)).toEqual([]);
  });

  it("that comes back is gone on with, nothing lost", () => {
    const { sessions, manager } = session();
    renameSync(sessions, `${sessions}-moved`);
    expect(() => say(manager, "3")).toThrow();
    renameSync(`${sessions}-moved`, sessions);
    const id = say(manager, "3");
    const again = SessionManager.open(manager.getSessionFile() ?? "");
    expect(again.getBranch()).toHaveLength(3);
    expect(again.getLeafId()).toBe(id);
    expect(readdirSync(sessions)).toHaveLength(1);
  });
});

describe("a move of the leaf", () => {
  it("is forgotten with the manager, as it is nowhere in the file", () => {
    const { manager } = session();
    const path = manager.getSessionFile() ?? "";
    const before = readFileSync(path, "utf8");
    const last = manager.getLeafId();
    manager.branch(manager.getBranch()[0]?.id ?? "");
    manager.resetLeaf();
    expect(readFileSync(path, "utf8")).toBe(before);
    expect(SessionManager.open(path).getLeafId()).toBe(last);
  });
});

describe("the id of a session", () => {
  const version7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/u;

  it("is a new one of version 7 for a branch and for a fork, and is in header and name", () => {
    const { sessions, manager } = session();
    const source = manager.getSessionFile() ?? "";
    const ids = [manager.getSessionId()];
    const fork = SessionManager.forkFrom(source, "/other", sessions);
    manager.createBranchedSession(manager.getLeafId() ?? "");
    for (const one of [manager, fork]) {
      expect(one.getSessionId()).toMatch(version7);
      expect(one.getHeader()?.id).toBe(one.getSessionId());
      expect(one.getSessionFile()).toContain(`_${one.getSessionId()}.jsonl`);
      ids.push(one.getSessionId());
    }
    expect(new Set(ids).size).toBe(3);
  });

  it("of entries that a fork copied never comes again in it", () => {
    const { sessions, manager } = session();
    const fork = SessionManager.forkFrom(manager.getSessionFile() ?? "", "/other", sessions);
    for (let i = 0; i < 50; i += 1) fork.appendCustomEntry("state", i);
    expect(new Set(idsOf(fork.getEntries())).size).toBe(52);
  });
});
