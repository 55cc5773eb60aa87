/** Trajectories become sessions: what is exported again has the same steps. */
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { openSession } from "@branchlog/core";
import { atifPieces, exportAtif, importTrajectory, isTrajectory } from "@branchlog/tools";
import { collected } from "../../support/collected.ts";
import { temporaryDirectory } from "../../support/temporary-directory.ts";

const fixtures = join(import.meta.dirname, "../../../fixtures");

interface Trajectory {
  readonly session_id: string;
  readonly steps: readonly Readonly<Record<string, unknown>>[];
  readonly final_metrics: object;
}

async function stepsOf(path: string): Promise<Trajectory> {
  return JSON.parse((await collected(atifPieces(path))).join("")) as Trajectory;
}

const sessions = [
  "realistic-session.jsonl",
  "pi-linear.jsonl",
  "pi-branches.jsonl",
  "pi-compaction-boundaries.jsonl",
  "claude/conversation.jsonl",
  "claude/compaction.jsonl",
  "codex/conversation.jsonl",
  "kimi/kimi-2.1.0.jsonl",
  "qwen/qwen-0.24.4.jsonl",
  "gemini/gemini-0.61.0.jsonl",
];

describe("a trajectory as a session", () => {
  it.each(sessions)("has the steps of %s when it is exported again", async (fixture) => {
    const directory = temporaryDirectory();
    const [written, session] = [join(directory, "t.json"), join(directory, "s.jsonl")];
    await exportAtif(join(fixtures, fixture), written);
    expect(isTrajectory(written)).toBe(true);
    const report = await importTrajectory(written, session);
    const before = JSON.parse(readFileSync(written, "utf8")) as Trajectory;
    const after = await stepsOf(session);
    expect(report).toMatchObject({ id: before.session_id, steps: before.steps.length });
    expect(after.steps).toEqual(before.steps);
    const opened = await openSession(session, { access: "read", checkpoint: "off" });
    expect(opened.diagnostics).toEqual([]);
    await opened.close();
  });

  it("keeps a summary in parts, behind a byte-order mark", async () => {
    const directory = temporaryDirectory();
    const [source, session] = [join(directory, "trajectory.json"), join(directory, "s.jsonl")];
    const message = [
      { type: "text", text: "All was" },
      { type: "text", text: "done." },
    ];
    const extra = { context_management: { type: "compaction", boundary: "replace" } };
    const steps = [{ step_id: 1, source: "system", message, extra }];
    const text = JSON.stringify({ schema_version: "ATIF-v1.8", session_id: "s", steps });
    writeFileSync(source, `\uFEFF${text}`);
    await importTrajectory(source, session);
    expect((await stepsOf(session)).steps).toMatchObject([{ message: "All was\ndone." }]);
  });

  it("is created from trajectories of other programs with missing fields", async () => {
    const directory = temporaryDirectory();
    const [source, session] = [join(directory, "trajectory.json"), join(directory, "s.jsonl")];
    const steps = [
      { step_id: 1, source: "system", message: "You are an agent." },
      { step_id: 2, source: "user", message: [{ type: "text", text: "Fix it." }] },
      {
        step_id: 3,
        source: "agent",
        message: "",
        tool_calls: [{ tool_call_id: "c", function_name: "bash", arguments: { command: "ls" } }],
        observation: { results: [{ source_call_id: "c", content: null }, { content: "more" }] },
        metrics: { prompt_tokens: 100, completion_tokens: 7, cached_tokens: 60 },
      },
      {
        step_id: 4,
        source: "agent",
        message: [{ type: "image", source: { media_type: "image/png", path: "shots/1.png" } }],
      },
    ];
    const agent = { name: "terminus", version: "2", model_name: "m" };
    const embedded = [{ schema_version: "ATIF-v1.7", trajectory_id: "sub", agent, steps }];
    const root = { schema_version: "ATIF-v1.5", session_id: "run/1", agent, steps };
    writeFileSync(source, JSON.stringify({ ...root, subagent_trajectories: embedded }));
    const report = await importTrajectory(source, session);
    // The id would not be a file's name; that of the file is taken.
    expect(report).toMatchObject({ id: "trajectory", steps: 4, subagents: 1 });
    const opened = await openSession(session, { access: "read", checkpoint: "off" });
    const branch = await opened.branch();
    const said = branch.map((entry) => (entry.type === "message" ? entry.message : entry.type));
    expect(said).toMatchObject([
      "custom_message",
      { role: "user", content: [{ text: "Fix it." }] },
      { role: "assistant", model: "m", usage: { input: 40, cacheRead: 60, output: 7 } },
      { role: "toolResult", toolCallId: "c", toolName: "bash", content: [{ text: "" }] },
      { role: "toolResult", content: [{ text: "more" }] },
      { role: "assistant", content: [{ text: "(image: shots/1.png)" }] },
    ]);
    await opened.close();
  });

  it("is rejected with a reason, and nothing is written", async () => {
    const directory = temporaryDirectory();
    const source = join(directory, "source.json");
    for (const text of ["{", "[]", "{}", '{"schema_version":"ATIF-v2.0","steps":[]}']) {
      writeFileSync(source, text);
      expect(isTrajectory(source)).toBe(false);
      await expect(importTrajectory(source, join(directory, "s.jsonl"))).rejects.toMatchObject({
        code: "ERR_NOT_A_SESSION",
        path: source,
      });
    }
    const argument = '{"type":"message","arguments":{"schema_version":"ATIF-v1.8"}}';
    writeFileSync(source, argument);
    expect(isTrajectory(source)).toBe(false);
    expect(isTrajectory(join(directory, "absent"))).toBe(false);
    expect(readdirSync(directory)).toEqual(["source.json"]);
  });
});
