/**
 * Sessions as trajectories. The fields are those of the specification, and no others: readers
 * refuse what they do not know.
 */
import { cpSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { openSession } from "@branchlog/core";
import { atifPieces, exportAtif } from "@branchlog/tools";
import { collected } from "../../support/collected.ts";
import { temporaryDirectory } from "../../support/temporary-directory.ts";

const time = "2026-01-01T00:00:00.000Z";
const fixtures = join(import.meta.dirname, "../../../fixtures");

interface Result {
  readonly source_call_id?: string;
  readonly subagent_trajectory_ref?: readonly object[];
}

interface Step {
  readonly step_id: number;
  readonly source: string;
  readonly message: unknown;
  readonly is_copied_context?: boolean;
  readonly tool_calls?: readonly { readonly tool_call_id: string }[];
  readonly observation?: { readonly results: readonly Result[] };
  readonly metrics?: { readonly prompt_tokens: number; readonly completion_tokens: number };
}

interface Trajectory {
  readonly steps: readonly Step[];
  readonly agent: object;
  readonly final_metrics: {
    readonly total_prompt_tokens: number;
    readonly total_completion_tokens: number;
    readonly total_steps: number;
  };
}

async function trajectoryOf(fixture: string, at?: string): Promise<Trajectory> {
  const text = (await collected(atifPieces(join(fixtures, fixture), { at }))).join("");
  return JSON.parse(text) as Trajectory;
}

/** What the specification has, by the kind of object. */
const fields = {
  root: "schema_version session_id trajectory_id agent steps notes final_metrics extra",
  agent: "name version model_name tool_definitions extra",
  step:
    "step_id source message timestamp observation is_copied_context llm_call_count extra " +
    "model_name reasoning_effort reasoning_content tool_calls metrics",
  agentOnly: "model_name reasoning_effort reasoning_content tool_calls metrics",
  call: "tool_call_id function_name arguments extra",
  observation: "results",
  result: "source_call_id content subagent_trajectory_ref extra",
  metrics: "prompt_tokens completion_tokens cached_tokens cost_usd extra",
  finalMetrics:
    "total_prompt_tokens total_completion_tokens total_cached_tokens total_cost_usd total_steps " +
    "extra",
} as const;

function unknownFields(kind: keyof typeof fields, value: object): string[] {
  const known = new Set(fields[kind].split(" "));
  return Object.keys(value).filter((key) => !known.has(key));
}

function isContent(value: unknown): boolean {
  if (typeof value === "string") return true;
  return (
    Array.isArray(value) &&
    value.every((part: unknown) => /"type":"(?:text|image)"/.test(JSON.stringify(part)))
  );
}

function problemsOf({ steps, agent, final_metrics: metrics, ...root }: Trajectory): unknown[] {
  const problems: unknown[] = [
    ...unknownFields("root", root),
    ...unknownFields("agent", agent),
    ...unknownFields("finalMetrics", metrics),
  ];
  for (const [at, step] of steps.entries()) {
    const { tool_calls: calls = [], observation, source } = step;
    const results = observation?.results ?? [];
    problems.push(...unknownFields("step", step));
    if (step.step_id !== at + 1) problems.push(["step_id", step.step_id]);
    if (!["system", "user", "agent"].includes(source)) problems.push(source);
    if (!isContent(step.message)) problems.push(step.message);
    if (source !== "agent") {
      problems.push(...fields.agentOnly.split(" ").filter((key) => Reflect.has(step, key)));
    }
    if (source === "user" && observation !== undefined) problems.push("observation of a user");
    for (const call of calls) problems.push(...unknownFields("call", call));
    if (observation !== undefined) problems.push(...unknownFields("observation", observation));
    if (step.metrics !== undefined) problems.push(...unknownFields("metrics", step.metrics));
    for (const result of results) {
      problems.push(...unknownFields("result", result));
      const { source_call_id: id } = result;
      const isOwn = calls.some(({ tool_call_id }) => tool_call_id === id);
      if (id !== undefined && !isOwn) problems.push(["no such call", id]);
    }
  }
  if (metrics.total_steps !== steps.length) problems.push(metrics.total_steps);
  return problems;
}

const sessions = [
  ...readdirSync(fixtures).filter((name) => name.endsWith(".jsonl")),
  "claude/conversation.jsonl",
  "codex/conversation.jsonl",
  "copilot/copilot-1.0.102.jsonl",
  "droid/droid-0.215.0.jsonl",
  "gemini/gemini-0.61.0.jsonl",
  "kimi/kimi-2.1.0.jsonl",
  "qwen/qwen-0.24.4.jsonl",
];

describe("a session as a trajectory", () => {
  it.each(sessions)("has the fields that the specification has, from %s", async (fixture) => {
    expect(problemsOf(await trajectoryOf(fixture))).toEqual([]);
  });

  it("has an agent's step for each answer, with its calls, their results and its tokens", async () => {
    const { steps, agent } = await trajectoryOf("claude/conversation.jsonl");
    expect(agent).toMatchObject({ name: "claude" });
    const called = steps.filter(({ tool_calls: calls }) => calls !== undefined);
    expect(called.length).toBeGreaterThan(0);
    for (const { tool_calls: calls, observation } of called) {
      const answered = observation?.results.map(({ source_call_id: id }) => id);
      expect(answered).toEqual(calls?.map(({ tool_call_id: id }) => id));
    }
  });

  it.each(["kimi/kimi-2.1.0.jsonl", "qwen/qwen-0.24.4.jsonl", "claude/conversation.jsonl"])(
    "counts the tokens of %s as they are on its path",
    async (fixture) => {
      const session = await openSession(join(fixtures, fixture), {
        access: "read",
        checkpoint: "off",
      });
      const path = await session.branch();
      await session.close();
      // By other means: every usage that is stored on the path.
      let [input, output] = [0, 0];
      for (const entry of path) {
        const of = entry.type === "message" && "usage" in entry.message ? entry.message : entry;
        const usage = Reflect.get(of, "usage") as Record<string, number> | undefined;
        const count = (key: string): number => usage?.[key] ?? 0;
        input += count("input") + count("cacheRead") + count("cacheWrite");
        output += count("output");
      }
      const { steps, final_metrics: sums } = await trajectoryOf(fixture);
      expect([sums.total_prompt_tokens, sums.total_completion_tokens]).toEqual([input, output]);
      const ofSteps = steps.reduce(
        (sum, { metrics }) => sum + (metrics?.completion_tokens ?? 0),
        0,
      );
      expect(ofSteps).toBeLessThanOrEqual(output);
      expect(ofSteps).toBeGreaterThan(0);
    },
  );

  it("marks the common part of a branch and the last one", async () => {
    const undone = "msg_01M8K6BCMP58F82HD4JFQXJQ1K";
    const { steps } = await trajectoryOf("kimi/kimi-2.1.0.jsonl", undone);
    const copied = steps.map(({ is_copied_context: isCopied = false }) => isCopied);
    expect(copied).toContain(true);
    expect(copied.at(-1)).toBe(false);
    expect(copied.lastIndexOf(true)).toBeLessThan(copied.indexOf(false));
    const whole = await trajectoryOf("kimi/kimi-2.1.0.jsonl");
    expect(whole.steps.some(({ is_copied_context: isCopied }) => isCopied)).toBe(false);
  });

  it("has the trajectories of subagents inside it, at their calls", async () => {
    const directory = temporaryDirectory();
    const [id, subagents] = ["1137f3dd-1132-482f-b210-7f3e511d0b2d", join(directory, "subagents")];
    const path = join(directory, "chats", `${id}.jsonl`);
    mkdirSync(join(subagents, id), { recursive: true });
    mkdirSync(join(directory, "chats"));
    cpSync(join(fixtures, "qwen/qwen-0.24.4.jsonl"), path);
    const part = join(fixtures, "qwen/qwen-0.24.4-agent.jsonl");
    cpSync(part, join(subagents, id, "agent-general-purpose-call_7_0.jsonl"));
    // Of another session, and what cannot be read.
    writeFileSync(join(subagents, id, "agent-broken.jsonl"), "no line");
    const text = (await collected(atifPieces(path))).join("");
    const { subagent_trajectories: inside = [], ...root } = JSON.parse(text) as Trajectory & {
      readonly subagent_trajectories?: readonly (Trajectory & { readonly trajectory_id: string })[];
    };
    expect(inside.flatMap(problemsOf)).toEqual([]);
    expect(problemsOf(root)).toEqual([]);
    const [subagent] = inside;
    expect(inside).toHaveLength(1);
    const results = root.steps.flatMap(({ observation }) => observation?.results ?? []);
    const refs = results.flatMap(({ subagent_trajectory_ref: ref = [] }) => ref);
    expect(refs).toEqual([{ trajectory_id: subagent?.trajectory_id }]);
    expect(subagent?.steps[0]).toMatchObject({
      source: "user",
      message: "view: where is the rate?",
    });
  });

  it("refers to a subagent when a secret in its prompt was replaced", async () => {
    const directory = temporaryDirectory();
    const secret = "ghp_06A7b9XqLmNoPqRsTuVwXyZ0123456789Abc";
    const [id, subagents] = ["1137f3dd-1132-482f-b210-7f3e511d0b2d", join(directory, "subagents")];
    const path = join(directory, "chats", `${id}.jsonl`);
    mkdirSync(join(subagents, id), { recursive: true });
    mkdirSync(join(directory, "chats"));
    const copy = (from: string, to: string): void => {
      const text = readFileSync(join(fixtures, from), "utf8");
      writeFileSync(to, text.replaceAll("where is the rate?", `where is ${secret}?`));
    };
    copy("qwen/qwen-0.24.4.jsonl", path);
    const agent = join(subagents, id, "agent-general-purpose-call_7_0.jsonl");
    copy("qwen/qwen-0.24.4-agent.jsonl", agent);
    const text = (await collected(atifPieces(path, { redact: true }))).join("");
    expect(text).not.toContain(secret);
    expect(text).toContain('"subagent_trajectory_ref":[');
  });

  it("has one step when a session has no entries", async () => {
    const path = join(temporaryDirectory(), "s.jsonl");
    const header = { type: "session", version: 3, id: "s", timestamp: time, cwd: "/w" };
    writeFileSync(path, `${JSON.stringify(header)}\n`);
    const text = (await collected(atifPieces(path))).join("");
    const trajectory = JSON.parse(text) as Trajectory;
    expect(problemsOf(trajectory)).toEqual([]);
    expect(trajectory.steps).toHaveLength(1);
  });

  it("is written completely or not at all, without secrets on request", async () => {
    const directory = temporaryDirectory();
    const target = join(directory, "trajectory.json");
    await expect(
      exportAtif(join(fixtures, "pi-branches.jsonl"), target, { at: "none" }),
    ).rejects.toMatchObject({ code: "ERR_ENTRY_NOT_FOUND" });
    expect(readdirSync(directory)).toEqual([]);
    const report = await exportAtif(join(fixtures, "realistic-session.jsonl"), target, {
      redact: true,
    });
    expect(report.redaction).toBeDefined();
    expect(JSON.parse(readFileSync(target, "utf8"))).toMatchObject({ schema_version: "ATIF-v1.8" });
  });
});
