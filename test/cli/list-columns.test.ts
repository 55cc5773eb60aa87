/** A list on a terminal: titles have the room, and every id that it shows can be pasted. */
import { copyFileSync, mkdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { displayWidth } from "../../packages/cli/src/text/display-width.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";
import { branchlog, fixture, onTerminal } from "./command-run.ts";

const claude = "c1a0de21-0000-4000-8000-000000000001";
const subagent = "agent-a1675717a14cbb80d";
const rollout = "rollout-2025-12-05T09-00-00-019aed65-0000-7000-8000-000000000001.jsonl";

/** Sessions of four agents in one home, one with a subagent. */
const files: Readonly<Record<string, string>> = {
  "pi-linear.jsonl": ".pi/agent/sessions/--w--/a.jsonl",
  "pi-branches.jsonl": ".pi/agent/sessions/--w--/b.jsonl",
  "omp-18.jsonl": ".omp/agent/sessions/-w/c.jsonl",
  "transcripts/versions/claude-2.1.jsonl": `.claude/projects/-w/${claude}.jsonl`,
  "transcripts/versions/claude-2.1-agent.jsonl": `.claude/projects/-w/${claude}/subagents/${subagent}.jsonl`,
  "transcripts/versions/codex-0.65.jsonl": `.codex/sessions/${rollout}`,
};
const variables = ["PI_CODING_AGENT_DIR", "OMP_CODING_AGENT_DIR", "PI_CONFIG_DIR", "XDG_DATA_HOME"];
const others = ["CLAUDE_CONFIG_DIR", "CODEX_HOME", "OMP_PROFILE", "PI_PROFILE"];

beforeEach(() => {
  const home = temporaryDirectory();
  for (const name of [...variables, ...others]) vi.stubEnv(name, undefined);
  vi.stubEnv("HOME", home);
  for (const [name, place] of Object.entries(files)) {
    mkdirSync(dirname(join(home, place)), { recursive: true });
    copyFileSync(fixture(name), join(home, place));
  }
  return () => vi.unstubAllEnvs();
});

describe("a list on a terminal", () => {
  it.each([
    [80, []],
    [120, []],
    [80, ["--all"]],
    [120, ["--all"]],
  ])(
    "of %d columns shows whole titles, and ids that info takes, with %j",
    async (columns, words) => {
      const { out } = await onTerminal(["list", ...words], { columns });
      const lines = out.split("\n");
      for (const one of lines) expect(displayWidth(one)).toBeLessThanOrEqual(columns);
      const rows = lines.filter((one) => /^ {2}.* (?:months|now|days) {2}/.test(one));
      expect(rows).toHaveLength(words.length === 0 ? 5 : 6);
      for (const title of ["Plan the cache.", "Fix the login test", "How many pages are there?"]) {
        expect(out).toContain(`  ${title}  `);
      }
      for (const row of rows) {
        const [id = ""] = /\S+$/.exec(row) ?? [];
        expect(id.length).toBeLessThanOrEqual(16);
        const info = await branchlog(["info", id]);
        const [, found = ""] = /^id\t(.*)$/m.exec(info.out) ?? [];
        expect([info.code, info.err]).toEqual([0, ""]);
        const [start = "", end = ""] = id.split("…");
        expect(found.startsWith(start) && found.endsWith(end)).toBe(true);
      }
      expect(out.includes("agent")).toBe(false);
    },
  );

  it("omits facts before it shortens titles", async () => {
    const facts = async (columns: number): Promise<string> =>
      (await onTerminal(["list"], { columns })).out;
    expect(await facts(140)).toMatch(
      /8 messages .*kB .*tokens .*\$0\.0078 .*claude-sonnet-4-5 \+1 .*pi/,
    );
    expect(await facts(110)).not.toContain("claude-sonnet");
    expect(await facts(60)).toContain("  How many pages are there?  ");
  });
});
