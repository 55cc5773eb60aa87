/** Nothing is created where Claude Code and Codex keep their sessions, whoever asks for it. */
import { mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { createSession, forkSession, openOrCreateSession } from "@branchlog/core";
import { SessionManager } from "@branchlog/agents/pi";
import { createMemoryPorts } from "@branchlog/core/testing";
import { importSession } from "@branchlog/tools";
import { branchlog } from "../../cli/command-run.ts";
import { directoryState } from "../../support/directory-state.ts";
import { temporaryDirectory } from "../../support/temporary-directory.ts";
import { fixturePath } from "../../tools/import/imported.ts";

let home: string;
beforeEach(() => {
  home = temporaryDirectory();
  vi.stubEnv("HOME", home);
  vi.stubEnv("CLAUDE_CONFIG_DIR", undefined);
  vi.stubEnv("CODEX_HOME", undefined);
  mkdirSync(join(home, ".claude", "projects", "-w"), { recursive: true });
  return () => vi.unstubAllEnvs();
});

const refused = {
  code: "ERR_CREATE_FAILED",
  message: expect.stringContaining("another place") as unknown,
};

async function expectRefused(path: string): Promise<void> {
  const before = directoryState(home);
  const source = fixturePath("pi-linear.jsonl");
  for (const create of [
    () => createSession(path, { cwd: "/w" }),
    () => openOrCreateSession(path, { cwd: "/w" }),
    () => forkSession(source, { target: path }),
    () => importSession(fixturePath("claude/conversation.jsonl"), path),
  ]) {
    await expect(create()).rejects.toMatchObject({ ...refused, path });
  }
  for (const words of [
    ["create", path],
    ["fork", source, "-o", path],
  ]) {
    expect(await branchlog(words)).toMatchObject({ code: 1, out: "" });
  }
  expect(directoryState(home)).toEqual(before);
}

describe("a new session", () => {
  it.each([
    ".claude/projects/-w/s.jsonl",
    ".claude/projects/new/below/s.jsonl",
    ".config/claude/projects/s.jsonl",
    ".codex/sessions/2026/01/01/s.jsonl",
    ".codex/archived_sessions/s.jsonl",
  ])("is rejected at ~/%s", async (place) => {
    await expectRefused(join(home, place));
  });

  it("is rejected when environment variables or links lead there", async () => {
    vi.stubEnv("CODEX_HOME", join(home, "moved"));
    await expectRefused(join(home, "moved", "sessions", "s.jsonl"));
    symlinkSync(join(home, ".claude"), join(home, "link"));
    await expectRefused(join(home, "link", "projects", "new", "s.jsonl"));
  });

  it("is also rejected for a session manager", () => {
    const directory = join(home, ".claude", "projects", "-w");
    expect(() => SessionManager.create("/w", directory)).toThrow("another place");
  });

  it("is created outside these directories, and in memory anywhere", async () => {
    const beside = join(home, ".claude", "projects-of-mine", "s.jsonl");
    expect((await createSession(beside, { cwd: "/w" })).path).toBe(beside);
    const ports = createMemoryPorts();
    await expect(createSession("/s.jsonl", { ports, cwd: "/w" })).resolves.toBeDefined();
  });
});
