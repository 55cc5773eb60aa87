/** Where sessions are kept, and how paths are understood. */
import { existsSync, statSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { getAgentDir, getDefaultSessionDir } from "@branchlog/agents/pi";
import {
  defaultSessionDirPath,
  isDefaultSessionDir,
  resolveSessionDir,
  sessionsRoot,
} from "../../../packages/library/src/find/pi-directory.ts";
import {
  expandPath,
  isSamePath,
  nativeDrivePath,
  resolvePath,
} from "../../../packages/core/src/platform/user-paths.ts";
import { useAgentHome } from "./agent-home.ts";

const home = useAgentHome();

describe("the agent directory", () => {
  it("is what PI_CODING_AGENT_DIR says, with its tilde expanded", () => {
    expect(getAgentDir()).toBe(home.path);
    process.env["PI_CODING_AGENT_DIR"] = "~/agent";
    expect(getAgentDir()).toBe(join(homedir(), "agent"));
  });

  it.each([undefined, ""])("is ~/.pi/agent if that is %s", (value) => {
    if (value === undefined) delete process.env["PI_CODING_AGENT_DIR"];
    else process.env["PI_CODING_AGENT_DIR"] = value;
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

  it("Verifies: P23 - is created for its owner only, when it is asked for as pi does", () => {
    const directory = defaultSessionDirPath("/work");
    expect(existsSync(directory)).toBe(false);
    expect(getDefaultSessionDir("/work")).toBe(directory);
    expect(statSync(directory).mode & 0o777).toBe(0o700);
    expect(getDefaultSessionDir("/work")).toBe(directory);
  });

  it("is what is meant if no other is given; looking it up creates nothing", () => {
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
  it("has its tilde expanded only where it means the home directory", () => {
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
