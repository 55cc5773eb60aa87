/** Sessions that pi and omp could both have written belong to the agent in whose place they are. */
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import fc from "fast-check";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { openSession } from "@branchlog/core";
import { dialectNames, dialectOfLog } from "@branchlog/core/rows";
import { findSessions } from "@branchlog/library";
import { branchlog, jsonLines } from "../cli/command-run.ts";
import { header, jsonl, user } from "../library/catalog/session-lines.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";

const variables = ["PI_CODING_AGENT_DIR", "OMP_CODING_AGENT_DIR", "PI_CONFIG_DIR", "OMP_PROFILE"];
const others = ["PI_PROFILE", "XDG_DATA_HOME", "PI_CODING_AGENT_SESSION_DIR"];

let home = "";
beforeEach(() => {
  home = temporaryDirectory();
  for (const name of [...variables, ...others]) vi.stubEnv(name, undefined);
  vi.stubEnv("HOME", home);
  return () => vi.unstubAllEnvs();
});

const plain = [header(), user("hello")];

function writeAt(path: string, lines: readonly object[] = plain): string {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, jsonl(lines));
  return path;
}

async function dialectsOf(path: string): Promise<readonly unknown[]> {
  const { sessions } = await findSessions([dirname(path)], { catalog: "off" });
  await using session = await openSession(path, { access: "read" });
  return [sessions[0]?.dialect, session.dialect];
}

describe("a session that could be from either agent", () => {
  it.each([
    [".omp/agent/sessions/-w/a.jsonl", "omp"],
    [".pi/agent/sessions/--w--/a.jsonl", "pi"],
    ["elsewhere/a.jsonl", "pi"],
  ])("below %s is one of %s", async (place, agent) => {
    const path = writeAt(join(home, place));
    expect(await dialectsOf(path)).toEqual([agent, agent]);
    const [info] = jsonLines((await branchlog(["info", path, "--json"])).out);
    expect(info).toMatchObject({ agent, resume: expect.stringMatching(`^${agent} `) as unknown });
    const listed = await branchlog(["list", dirname(path), "--agent", agent, "--json"]);
    expect(jsonLines(listed.out)).toHaveLength(1);
    const found = await branchlog(["search", "hello", dirname(path), "--agent", agent]);
    expect(found.code).toBe(0);
  });

  it("belongs to that agent also through a link", async () => {
    const path = writeAt(join(home, ".omp/agent/sessions/-w/a.jsonl"));
    symlinkSync(dirname(path), join(home, "link"));
    expect(await dialectsOf(join(home, "link", "a.jsonl"))).toEqual(["omp", "omp"]);
  });

  it("is recognised by its form when both agents keep sessions there", async () => {
    vi.stubEnv("PI_CODING_AGENT_DIR", join(home, "both"));
    const path = writeAt(join(home, "both/sessions/-w/a.jsonl"));
    expect(await dialectsOf(path)).toEqual(["pi", "pi"]);
  });

  it("law: is recognised by its content, then by its directory, then by its id", () => {
    const dialect = fc.constantFrom(...dialectNames);
    const evidence = fc.record({
      hasTitleSlot: fc.boolean(),
      ofEntries: fc.option(dialect, { nil: undefined }),
      id: fc.constantFrom("a".repeat(21), "019f0000-0000-7000-8000-000000000001"),
      place: fc.option(dialect, { nil: undefined }),
    });
    fc.assert(
      fc.property(evidence, ({ hasTitleSlot, ofEntries, id, place }) => {
        const head = { type: "session" as const, version: 3, id, timestamp: "", cwd: "" };
        const found = dialectOfLog({ hasTitleSlot, ofEntries, header: head, ofPlace: () => place });
        const ofId = id.length === 21 ? "omp" : "pi";
        expect(found).toBe(hasTitleSlot ? "omp" : (ofEntries ?? place ?? ofId));
      }),
    );
  });
});
