/** Sessions of Claude Code follow a directory that is renamed more than once. */
import { cpSync, mkdirSync, readFileSync, readdirSync, utimesSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { expect, it } from "vitest";
import { claude } from "../../../packages/agents/src/claude/agent.ts";
import { openSession } from "@branchlog/core";
import { findSessions, moveSessions, undoOperation } from "@branchlog/library";
import { usageStatistics } from "@branchlog/tools";
import { temporaryDirectory } from "../../support/temporary-directory.ts";

const sessionId = "f1e1d00a-0000-4000-8000-000000000001";

function nameOf(cwd: string): string {
  return cwd.replaceAll(/[^A-Za-z0-9]/g, "-");
}

function lines(...records: readonly object[]): string {
  return records.map((record) => `${JSON.stringify(record)}\n`).join("");
}

/** A session in `cwd` whose first record names no directory, with a subagent and an output. */
function kept(projects: string, cwd: string): void {
  const said = (uuid: string, more: object): object => ({
    parentUuid: null,
    type: "user",
    uuid,
    sessionId,
    cwd,
    timestamp: "2026-01-01T00:00:00.000Z",
    message: { role: "user", content: "Move with me" },
    ...more,
  });
  const path = join(projects, nameOf(cwd), `${sessionId}.jsonl`);
  const agent = join(dirname(path), sessionId, "subagents/agent-a1.jsonl");
  const output = join(dirname(path), sessionId, "tool-results/b.txt");
  for (const file of [agent, output]) mkdirSync(dirname(file), { recursive: true });
  const title = { type: "ai-title", aiTitle: "A move", sessionId };
  writeFileSync(path, lines(title, said("u1", {}), said("u2", { cwd: join(cwd, "web") })));
  writeFileSync(agent, lines(said("u3", { isSidechain: true, agentId: "a1" })));
  writeFileSync(output, "an output\n");
  // A session that changed within the last minute is not moved.
  for (const file of [path, agent]) utimesSync(file, 1_700_000_000, 1_700_000_000);
}

/** The texts of all files, by their places. */
function textsBelow(root: string): Readonly<Record<string, string>> {
  const entries = readdirSync(root, { recursive: true, withFileTypes: true });
  const paths = entries.filter((one) => one.isFile()).map((one) => join(one.parentPath, one.name));
  return Object.fromEntries(paths.map((path) => [path, readFileSync(path, "utf8")]));
}

it("a session and its subagents are those of the new directory, twice and back", async () => {
  const [home, dataDir] = [temporaryDirectory(), temporaryDirectory()];
  const [projects, ...cwds] = ["projects", "old shop", "shop", "api"].map((at) => join(home, at));
  if (projects === undefined) throw new Error("there is no home");
  const [first = "", second = "", third = ""] = cwds;
  for (const cwd of [second, third]) mkdirSync(cwd);
  kept(projects, first);
  const before = textsBelow(projects);
  for (const [from, to] of [
    [first, second],
    [second, third],
  ] as const) {
    const { moved, failures } = await moveSessions(from, to, { places: [projects], dataDir });
    expect([moved.length, failures]).toEqual([1, []]);
    const { sessions } = await findSessions([projects], { artifacts: true, catalog: "off" });
    expect(sessions.map(({ header }) => header.cwd)).toEqual([to, to]);
    const { groups } = await usageStatistics([projects]);
    expect([...groups.project.keys()]).toEqual([to]);
    const names = Object.keys(textsBelow(projects)).map((path) => path.slice(projects.length + 1));
    expect(names.toSorted()).toEqual([
      `${nameOf(to)}/${sessionId}.jsonl`,
      `${nameOf(to)}/${sessionId}/subagents/agent-a1.jsonl`,
      `${nameOf(to)}/${sessionId}/tool-results/b.txt`,
    ]);
  }
  await undoOperation(undefined, { dataDir });
  await undoOperation(undefined, { dataDir });
  expect(textsBelow(projects)).toEqual(before);
});

it("a directory of sessions whose name is long ends with a hash of the working directory", () => {
  const long = `/home/dev/${"a-long-name/".repeat(20)}shop`;
  const cut = `${nameOf(long).slice(0, 200)}-s0pta5`;
  expect(claude.renamedDirectory?.("-home-dev-shop", "/home/dev/shop", long)).toBe(cut);
  expect(claude.renamedDirectory?.(cut, long, "/home/dev/shop")).toBe("-home-dev-shop");
  expect(claude.renamedDirectory?.("-elsewhere", long, "/home/dev/shop")).toBeUndefined();
});

it("a session that Claude Code moved itself has the directory that it names last", async () => {
  const [home, elsewhere] = [temporaryDirectory(), "/home/dev/elsewhere"];
  kept(home, "/home/dev/shop");
  const source = join(home, nameOf("/home/dev/shop"));
  const target = join(home, nameOf(elsewhere));
  cpSync(source, target, { recursive: true });
  const path = join(target, `${sessionId}.jsonl`);
  const moved = { type: "relocated", sessionId, relocatedCwd: elsewhere };
  writeFileSync(path, readFileSync(path, "utf8") + lines(moved));
  const session = await openSession(path, { access: "read" });
  expect(session.header.cwd).toBe(elsewhere);
  expect(basename(dirname(path))).toBe(nameOf(session.header.cwd));
});

it("a session that Claude Code moved itself stays, and is named, when its directory moves", async () => {
  const [home, from, to] = [temporaryDirectory(), temporaryDirectory(), temporaryDirectory()];
  kept(home, "/home/dev/shop");
  const path = join(home, nameOf("/home/dev/shop"), `${sessionId}.jsonl`);
  const moved = { type: "relocated", sessionId, relocatedCwd: from };
  writeFileSync(path, readFileSync(path, "utf8") + lines(moved));
  const before = readFileSync(path);
  const options = { places: [home], dataDir: temporaryDirectory(), force: true };
  const result = await moveSessions(from, to, options);
  expect([result.moved, result.failures.map(({ code }) => code)]).toEqual([[], ["ERR_READ_ONLY"]]);
  expect(result.failures[0]?.path).toBe(path);
  expect(readFileSync(path)).toEqual(before);
});
