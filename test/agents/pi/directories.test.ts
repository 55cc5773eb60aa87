/** Session managers in pi's own directories: where sessions go, and how they are found again. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, expectTypeOf, it } from "vitest";
import { SessionManager, getDefaultSessionDir } from "@branchlog/agents/pi";
import type { ReadonlySessionManager } from "@branchlog/agents/pi";
import { useAgentHome } from "./agent-home.ts";
import { say } from "./managers.ts";

const home = useAgentHome();

describe("a session without a directory of its own", () => {
  it("goes to the directory of its working directory, which is made at once", () => {
    const manager = SessionManager.create("/some/project/");
    const expected = join(home.path, "sessions", "--some-project--");
    expect(manager.getSessionDir()).toBe(expected);
    expect(getDefaultSessionDir("/some/project")).toBe(expected);
    expect(existsSync(expected)).toBe(true);
    expect(manager.usesDefaultSessionDir()).toBe(true);
    expect(manager.getCwd()).toBe("/some/project");
  });

  it("is the one that is continued, listed and found by its id", async () => {
    const manager = SessionManager.create("/some/project", undefined, { id: "mine" });
    say(manager, "hello");
    manager.appendSessionInfo("a name");
    const path = manager.getSessionFile();
    expect(SessionManager.continueRecent("/some/project").getSessionFile()).toBe(path);
    expect(SessionManager.findById("/some/project", "mine")).toBe(path);
    expect(SessionManager.findById("/some/project", "other")).toBeUndefined();
    const listed = { path, id: "mine", name: "a name", firstMessage: "hello", messageCount: 1 };
    expect(await SessionManager.list("/some/project")).toMatchObject([listed]);
    expect(await SessionManager.listAll()).toMatchObject([listed]);
    expect(await SessionManager.list("/other")).toEqual([]);
  });

  it("is forked into the directory of the other project", () => {
    const manager = SessionManager.create("/some/project");
    say(manager, "hello");
    const fork = SessionManager.forkFrom(manager.getSessionFile() ?? "", "/other/project");
    expect(fork.getSessionDir()).toBe(join(home.path, "sessions", "--other-project--"));
    expect(fork.usesDefaultSessionDir()).toBe(true);
    expect(SessionManager.continueRecent("/other/project").getEntries()).toEqual(fork.getEntries());
  });
});

describe("what extensions get", () => {
  it("is a manager that only reads", () => {
    const reader: ReadonlySessionManager = SessionManager.inMemory("/work");
    expect(reader.getBranch()).toEqual([]);
    expectTypeOf<Extract<keyof ReadonlySessionManager, `append${string}`>>().toBeNever();
  });
});
