/** Where sessions are kept and found again, and how paths are understood. */
import { existsSync, statSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { describe, expect, expectTypeOf, it, vi } from "vitest";
import { SessionManager, getAgentDir, getDefaultSessionDir } from "@branchlog/agents/pi";
import type { ReadonlySessionManager } from "@branchlog/agents/pi";
import {
  defaultSessionDirPath,
  isDefaultSessionDir,
  resolveSessionDir,
  sessionsRoot,
  isSamePath,
} from "../../../packages/agents/src/pi/pi-directory.ts";
import {
  expandPath,
  nativeDrivePath,
  resolvePath,
} from "../../../packages/core/src/platform/user-paths.ts";
import { useAgentHome } from "./agent-home.ts";
import { say } from "./managers.ts";

const home = useAgentHome();

describe("the agent directory", () => {
  it("is PI_CODING_AGENT_DIR, with its tilde expanded", () => {
    expect(getAgentDir()).toBe(home.path);
    vi.stubEnv("PI_CODING_AGENT_DIR", "~/agent");
    expect(getAgentDir()).toBe(join(homedir(), "agent"));
  });

  it.each([undefined, ""])("is ~/.pi/agent if that is %s", (value) => {
    vi.stubEnv("PI_CODING_AGENT_DIR", value);
    expect(getAgentDir()).toBe(join(homedir(), ".pi", "agent"));
  });
});

describe("the default session directory", () => {
  it.each([
    ["/work/project", "--work-project--"],
    ["/", "----"],
    ["/a/b-c", "--a-b-c--"],
    ["/a-b/c", "--a-b-c--"],
    ["/with space/ü", "--with space-ü--"],
    ["/a:b\\c", "--a-b-c--"],
    ["/trailing/", "--trailing--"],
    ["/a/../b/./c", "--b-c--"],
    ["file:///x/y", "--x-y--"],
    ["//twice", "--twice--"],
  ])("of %s is named %s", (cwd, name) => {
    expect(defaultSessionDirPath(cwd)).toBe(join(home.path, "sessions", name));
    expect(defaultSessionDirPath(cwd, "/agent")).toBe(join("/agent/sessions", name));
  });

  it("of a relative path or one with a tilde is that of the absolute path", () => {
    expect(defaultSessionDirPath(".")).toBe(defaultSessionDirPath(process.cwd()));
    expect(defaultSessionDirPath("~/x")).toBe(defaultSessionDirPath(join(homedir(), "x")));
    expect(sessionsRoot("~/agent")).toBe(join(homedir(), "agent", "sessions"));
  });

  it("Verifies: P23 - is created for its owner only, when requested as in pi", () => {
    const directory = defaultSessionDirPath("/work");
    expect(existsSync(directory)).toBe(false);
    expect(getDefaultSessionDir("/work")).toBe(directory);
    expect(statSync(directory).mode & 0o777).toBe(0o700);
    expect(getDefaultSessionDir("/work")).toBe(directory);
  });

  it("is the default; looking it up creates nothing", () => {
    expect(resolveSessionDir("/work")).toBe(defaultSessionDirPath("/work"));
    expect(resolveSessionDir("/work", "")).toBe(defaultSessionDirPath("/work"));
    expect(resolveSessionDir("/work", "/flat")).toBe("/flat");
    expect(resolveSessionDir("/work", "~/flat")).toBe(join(homedir(), "flat"));
    expect(existsSync(home.path)).toBe(false);
  });

  it("is recognised however it is written", () => {
    const directory = defaultSessionDirPath("/work");
    expect(isDefaultSessionDir(`${directory}/`, "/work/.")).toBe(true);
    expect(isDefaultSessionDir(directory, "/other")).toBe(false);
  });
});

describe("a path", () => {
  it("has its tilde expanded only when it means the home directory", () => {
    expect(expandPath("~")).toBe(homedir());
    expect(expandPath("~/a")).toBe(join(homedir(), "a"));
    expect(expandPath("~user/a")).toBe("~user/a");
    expect(expandPath("a/~")).toBe("a/~");
  });

  it("may be a file URL", () => {
    expect(expandPath("file:///a%20b")).toBe("/a b");
    expect(() => expandPath("file://host/a")).toThrow(
      expect.objectContaining({ code: "ERR_INVALID_ARGUMENT" }),
    );
  });

  it("is resolved against the working directory of the process", () => {
    expect(resolvePath("a/../b")).toBe(join(process.cwd(), "b"));
    expect(expandPath("a/../b")).toBe("a/../b");
    expect(isSamePath("a", join(process.cwd(), "a/"))).toBe(true);
    expect(isSamePath("/a", "/A")).toBe(false);
  });

  it.each([
    ["/c/work", "C:\\work"],
    ["/mnt/d/a/b", "D:\\a\\b"],
    ["/cygdrive/e", "E:\\"],
    ["/c", "C:\\"],
    ["/home/me", "/home/me"],
    ["//server/c/x", "//server/c/x"],
    ["C:\\work", "C:\\work"],
    ["relative/c", "relative/c"],
  ])("of a Windows shell, %s, means %s", (path, native) => {
    expect(nativeDrivePath(path)).toBe(native);
  });
});

describe("a session without a directory of its own", () => {
  it("goes to the directory of its working directory, which is created at once", () => {
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
    expect(SessionManager.continueRecent("/other").getEntryCount()).toBe(0);
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

it("extensions get a read-only manager", () => {
  const reader: ReadonlySessionManager = SessionManager.inMemory("/work");
  expect(reader.getBranch()).toEqual([]);
  expectTypeOf<Extract<keyof ReadonlySessionManager, `append${string}`>>().toBeNever();
});
