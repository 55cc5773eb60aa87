/** Where omp keeps its sessions, under all the names that it has given the directories. */
import { mkdirSync, realpathSync, writeFileSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import * as fc from "fast-check";
import { describe, expect, it, vi } from "vitest";
import {
  SessionManager,
  getAgentDir,
  getBlobsDir,
  getDefaultSessionDir,
} from "@branchlog/agents/omp";
import { sessionDirectoryNames } from "../../../packages/agents/src/omp/omp-directory.ts";
import { useAgentHome } from "../pi/agent-home.ts";
import { answer, say } from "./managers.ts";

const home = "/home/al";
const names = (cwd: string): string[] =>
  sessionDirectoryNames(cwd, { realCwd: cwd, home, temporary: "/tmp" });

describe("the names of a session directory", () => {
  it.each([
    ["/home/al/proj/sub.dir", ["--home-al-proj-sub.dir--", "-proj-sub.dir"]],
    ["/home/al", ["--home-al--", "-"]],
    ["/tmp", ["--tmp--", "-tmp"]],
    ["/tmp/x", ["--tmp-x--", "-tmp-x"]],
    ["/srv/x:y/z", ["--srv-x-y-z--"]],
    ["/", ["----"]],
    ["/home/al/..foo", ["--home-al-..foo--", "-..foo"]],
    ["/home/al-x/p", ["--home-al-x-p--"]],
  ])("of %s are %j and one with its checksum", (cwd, expected) => {
    const all = names(cwd);
    expect(all.slice(0, -1)).toEqual(expected);
    expect(all.at(-1)).toMatch(/^(?:home|tmp|abs)-.*-[0-9a-f]{64}$/);
  });

  it("include those through a symbolic link", () => {
    const sources = { realCwd: "/home/al/real", home, temporary: "/tmp" };
    const named = sessionDirectoryNames("/link", sources);
    expect(named.slice(0, -1)).toEqual(["--link--", "--home-al-real--", "-real"]);
  });

  it("are path segments for any directory name", () => {
    fc.assert(
      fc.property(fc.array(fc.string({ minLength: 1 }), { maxLength: 5 }), (parts) => {
        const cwd = `/${parts.map((part) => part.replaceAll(/[/\0]/g, "_")).join("/")}`;
        expect(names(cwd).filter((name) => /[/\\]/.test(name) || name === "")).toEqual([]);
      }),
    );
  });
});

describe("omp's directories", () => {
  const agent = useAgentHome();
  const withEnv = <T>(set: Record<string, string>, run: () => T): T => {
    for (const [name, value] of Object.entries(set)) vi.stubEnv(name, value);
    try {
      return run();
    } finally {
      vi.unstubAllEnvs();
      // The one of the running test.
      vi.stubEnv("PI_CODING_AGENT_DIR", agent.path);
    }
  };

  it("follow the environment variables", () => {
    expect(getAgentDir()).toBe(agent.path);
    expect(getDefaultSessionDir("/a/b")).toBe(join(agent.path, "sessions", "--a-b--"));
    expect(getBlobsDir()).toBe(join(agent.path, "blobs"));
    withEnv({ PI_CODING_AGENT_DIR: "" }, () => {
      expect(getAgentDir()).toBe(join(homedir(), ".omp", "agent"));
    });
    withEnv({ OMP_PROFILE: "work" }, () => {
      expect(getAgentDir()).toBe(join(homedir(), ".omp", "profiles", "work", "agent"));
    });
    withEnv({ OMP_PROFILE: "../../etc" }, () => {
      expect(getAgentDir()).toBe(join(homedir(), ".omp", "profiles", "etc", "agent"));
    });
    withEnv({ PI_CODING_AGENT_DIR: "", PI_CONFIG_DIR: ".other" }, () => {
      expect(getAgentDir()).toBe(join(homedir(), ".other", "agent"));
    });
  });

  it("hold the sessions of a working directory under every name", async () => {
    const cwd = agent.directory("work");
    const header = (id: string, of: string): string =>
      `{"type":"session","version":3,"id":"${id}","timestamp":"2026-01-01T00:00:00.000Z","cwd":${JSON.stringify(of)},"title":"${id}"}\n`;
    const all = sessionDirectoryNames(cwd, {
      realCwd: cwd,
      home: homedir(),
      temporary: realpathSync(tmpdir()),
    });
    expect(all.length).toBeGreaterThanOrEqual(3);
    for (const [at, name] of all.entries()) {
      const directory = agent.sessions(name);
      writeFileSync(join(directory, `${at}.jsonl`), header(`s${at}`, cwd));
      // Another working directory has the same name.
      writeFileSync(join(directory, `${at}-other.jsonl`), header(`o${at}`, "/elsewhere"));
    }
    const listed = await SessionManager.list(cwd);
    expect(listed.map(({ id }) => id).toSorted()).toEqual(all.map((_, at) => `s${at}`));
    const everything = await SessionManager.listAll();
    expect(everything).toHaveLength(2 * all.length);
    expect(everything[0]).toMatchObject({ firstMessage: "(no messages)", messageCount: 0 });
  });

  it("are used to create, continue and find a session", async () => {
    const cwd = agent.directory("work");
    const manager = SessionManager.create(cwd);
    say(manager, "Hello");
    answer(manager, "Hi");
    expect(manager.getSessionFile()?.startsWith(getDefaultSessionDir(cwd))).toBe(true);
    const again = await SessionManager.continueRecent(cwd);
    expect(again.getSessionId()).toBe(manager.getSessionId());
    expect(again.getEntries()).toHaveLength(2);
    const [info] = await SessionManager.list(cwd);
    expect(info).toMatchObject({ id: manager.getSessionId(), cwd, messageCount: 2 });
    expect(info?.allMessagesText).toContain("Hello");
    mkdirSync(join(agent.path, "sessions", "empty"), { recursive: true });
    expect(await SessionManager.list(agent.directory("other"))).toEqual([]);
  });
});
