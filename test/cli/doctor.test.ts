/** What `doctor` says of an installation, and that it says nothing of what was said. */
import { cpSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, it, vi } from "vitest";
import { ownProcessName } from "@branchlog/core/files";
import { temporaryDirectory } from "../support/temporary-directory.ts";
import { branchlog, fixture, onTerminal } from "./command-run.ts";

afterEach(() => {
  vi.unstubAllEnvs();
});

/** The home of a user with sessions of pi. */
function home(): { readonly directory: string; readonly sessions: string } {
  const directory = temporaryDirectory();
  const sessions = join(directory, ".pi/agent/sessions/--work--");
  mkdirSync(sessions, { recursive: true });
  cpSync(fixture("pi-branches.jsonl"), join(sessions, "one.jsonl"));
  cpSync(fixture("claude/conversation.jsonl"), join(sessions, "two.jsonl"));
  vi.stubEnv("HOME", directory);
  vi.stubEnv("BRANCHLOG_CACHE_DIR", join(directory, "cache"));
  vi.stubEnv("BRANCHLOG_DATA_DIR", join(directory, "data"));
  return { directory, sessions };
}

interface Diagnosis {
  readonly agents: readonly { readonly agent: string; readonly sessions: number }[];
  readonly locks: readonly object[];
  readonly problems: readonly string[];
}

describe("branchlog doctor", () => {
  it("counts the sessions of each agent by directory, and shortens paths in the home directory", async () => {
    const { directory } = home();
    const { out, code } = await branchlog(["doctor", "--json"]);
    const found = JSON.parse(out) as Diagnosis;
    expect(code).toBe(0);
    expect(found).toMatchObject({ problems: [], locks: [], index: null, unlisted: 0 });
    const counts = found.agents.filter(({ sessions }) => sessions > 0);
    expect(counts).toMatchObject([
      { agent: "pi", sessions: 1, places: ["~/.pi/agent/sessions"] },
      { agent: "claude", sessions: 1 },
    ]);
    expect(out).not.toContain(directory);
    // Neither texts nor working directories.
    expect(out).not.toMatch(/Plan the cache|checkout|\/home\/dev/);
    expect((await onTerminal(["doctor"])).out).toContain("no problems");
  });

  it("lists locks, and those whose holders have ended", async () => {
    const { sessions } = home();
    symlinkSync(ownProcessName(), join(sessions, "one.jsonl.branchlog-lock"));
    const own = ownProcessName();
    // A process of this boot that cannot be there any more.
    const ended = own.replace(/^\d+\.\d+/, "2147483646.1");
    symlinkSync(ended, join(sessions, "two.jsonl.branchlog-lock"));
    const { out, code } = await branchlog(["doctor", "--json"]);
    const found = JSON.parse(out) as Diagnosis;
    expect(found.locks).toMatchObject([
      { file: "one.jsonl", holder: "alive" },
      { file: "two.jsonl", holder: "ended" },
    ]);
    expect([code, found.problems]).toEqual([1, [expect.stringContaining("two.jsonl")]]);
  });

  it("reports unusable files", async () => {
    const { directory } = home();
    writeFileSync(join(directory, "cache"), "a file where a directory should be");
    const { out, code } = await branchlog(["doctor"]);
    expect(code).toBe(1);
    expect(out).toContain("problem: ~/cache cannot be written");
  });

  it("finds nothing when a part of a path is a file", async () => {
    const { directory } = home();
    const file = join(directory, "file");
    writeFileSync(file, "");
    vi.stubEnv("HOME", file);
    vi.stubEnv("BRANCHLOG_DATA_DIR", join(file, "data"));
    const { out, code } = await branchlog(["doctor"]);
    expect(code).toBe(1);
    expect(out).toMatch(/^problem: .*data cannot be written/m);
  });
});
