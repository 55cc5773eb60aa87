/**
 * One log through both adapters: either appends, both report the same of it, and so does one that
 * reopens it.
 */
import { join } from "node:path";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createSession, openSession } from "@branchlog/core";
import type { DialectName } from "@branchlog/core/entries";
import {
  SessionManager as OmpManager,
  buildSessionContext as ompContext,
} from "@branchlog/agents/omp";
import { SessionManager, buildSessionContext } from "@branchlog/agents/pi";
import { temporaryDirectory } from "../support/temporary-directory.ts";
import { assistantMessage, userMessage } from "../core/projections/sample-entries.ts";

interface Adapters {
  readonly pi: SessionManager;
  readonly omp: OmpManager;
}

/** Something that one of the agents does. */
type Operation = readonly [
  name: string,
  run: (adapters: Adapters, ids: readonly string[]) => unknown,
];

/** One of the entries that a manager knows: what the other appended since is not among them. */
function pick(face: Adapters[keyof Adapters], ids: readonly string[], at: number): string {
  const known = ids.filter((id) => face.getEntry(id) !== undefined);
  return known[at % known.length] ?? "";
}

function operations(at: number): readonly Operation[] {
  const text = `text ${at}`;
  return [
    ["pi says", ({ pi }) => pi.appendMessage(userMessage(text))],
    ["omp says", ({ omp }) => omp.appendMessage(userMessage(text))],
    ["pi answers", ({ pi }) => pi.appendMessage(assistantMessage(text, `m${at % 3}`))],
    ["omp answers", ({ omp }) => omp.appendMessage(assistantMessage(text, `m${at % 3}`))],
    ["pi changes the model", ({ pi }) => pi.appendModelChange("openai", `gpt-${at % 3}`)],
    ["omp changes the model", ({ omp }) => omp.appendModelChange(`openai/gpt-${at % 3}`)],
    ["omp changes a role", ({ omp }) => omp.appendModelChange(`openai/gpt-${at % 3}`, "smol")],
    ["pi thinks", ({ pi }) => pi.appendThinkingLevelChange(at % 2 ? "high" : "low")],
    ["omp stops thinking", ({ omp }) => omp.appendThinkingLevelChange()],
    ["pi names", ({ pi }) => pi.appendSessionInfo(text)],
    ["omp names", ({ omp }) => omp.setSessionTitle(text)],
    ["pi clears the name", ({ pi }) => pi.appendSessionInfo("")],
    ["pi compacts", ({ pi }, ids) => pi.appendCompaction(text, pick(pi, ids, at), 9)],
    [
      "omp compacts",
      ({ omp }, ids) => omp.appendCompaction(text, "short", pick(omp, ids, at), 9, undefined, true),
    ],
    ["pi leaves a branch", ({ pi }, ids) => pi.branchWithSummary(pick(pi, ids, at), text)],
    ["omp leaves a branch", ({ omp }, ids) => omp.branchWithSummary(pick(omp, ids, at), text)],
    ["omp injects", ({ omp }) => omp.appendTtsrInjection([`rule ${at % 4}`])],
    ["omp resets", ({ omp }) => omp.appendResetBoundary()],
    ["pi's extension", ({ pi }) => pi.appendCustomMessageEntry("x", text, true, { at })],
    ["omp labels", ({ omp }, ids) => omp.appendLabelChange(pick(omp, ids, at), text)],
  ];
}

/** What both must agree on. */
async function agreed(path: string): Promise<void> {
  const pi = SessionManager.open(path);
  const omp = await OmpManager.open(path);
  const { messages, thinkingLevel, model } = pi.buildSessionContext();
  const context = omp.buildSessionContext();
  expect(context.messages).toEqual(messages);
  expect(context.thinkingLevel).toBe(thinkingLevel);
  expect(context.models["default"] ?? null).toBe(model && `${model.provider}/${model.modelId}`);
  expect(omp.getSessionName()).toBe(pi.getSessionName());
  expect(omp.getEntries()).toEqual(pi.getEntries());
  const entries = pi.getEntries();
  const leaf = pi.getLeafId();
  expect(buildSessionContext(entries, leaf)).toEqual({ messages, thinkingLevel, model });
  expect(ompContext(entries, leaf)).toEqual(context);
  const session = await openSession(path, { access: "read" });
  expect(await session.context()).toEqual({ messages, thinkingLevel, model });
}

describe.each(["pi", "omp"] as const)("a log of %s", (dialect: DialectName) => {
  it("reads the same through both adapters, whichever appends", { timeout: 120_000 }, async () => {
    const anyPlan = fc.array(fc.nat(operations(0).length - 1), { minLength: 4, maxLength: 24 });
    await fc.assert(
      fc.asyncProperty(anyPlan, async (plan) => {
        const path = join(temporaryDirectory(), "session.jsonl");
        const session = await createSession(path, { dialect });
        const first = await session.append({ type: "message", message: userMessage("first") });
        await session.close();
        const adapters = { pi: SessionManager.open(path), omp: await OmpManager.open(path) };
        const ids = [first.id];
        for (const [at, choice] of plan.entries()) {
          const [, run] = operations(at)[choice] ?? [];
          const id: unknown = await run?.(adapters, ids);
          if (typeof id === "string") ids.push(id);
          // A context that is kept and continued equals one that is rebuilt.
          const fresh = await OmpManager.open(path);
          fresh.branch(adapters.omp.getLeafId() ?? "");
          expect(adapters.omp.buildSessionContext()).toEqual(fresh.buildSessionContext());
          const freshPi = SessionManager.open(path);
          freshPi.branch(adapters.pi.getLeafId() ?? "");
          expect(adapters.pi.buildSessionContext()).toEqual(freshPi.buildSessionContext());
        }
        await agreed(path);
      }),
      { numRuns: 30 },
    );
  });

  it("is written in its dialect by both", async () => {
    const path = join(temporaryDirectory(), "session.jsonl");
    const session = await createSession(path, { dialect });
    const { id } = await session.append({ type: "message", message: userMessage("first") });
    await session.append({ type: "model_change", provider: "a", modelId: "b" });
    const pi = SessionManager.open(path);
    pi.appendModelChange("a", "b");
    pi.appendSessionInfo("named");
    pi.appendCompaction("s", id, 1, undefined, true);
    const omp = await OmpManager.open(path);
    omp.appendModelChange("a/b");
    await omp.setSessionTitle("named again");
    omp.appendCompaction("s", undefined, id, 1, undefined, true);
    const words = omp.getEntries().map((entry) => Object.keys(entry).slice(4).join(" "));
    const compaction = "summary firstKeptEntryId tokensBefore";
    expect(words.slice(1)).toEqual(
      dialect === "omp"
        ? [
            "model",
            "model",
            "title source",
            `${compaction} fromExtension`,
            "model",
            "title source previousTitle",
            `${compaction} fromExtension`,
          ]
        : [
            "provider modelId",
            "provider modelId",
            "name",
            `${compaction} fromHook`,
            "provider modelId",
            "name",
            `${compaction} fromHook`,
          ],
    );
    const isOmp = /^[A-Za-z0-9_-]{8}$/;
    expect(omp.getEntries().every((entry) => isOmp.test(entry.id))).toBe(true);
    expect((await openSession(path)).dialect).toBe(dialect);
  });
});

it("the dialect of a session can be set by the caller", async () => {
  const path = join(temporaryDirectory(), "session.jsonl");
  await (await createSession(path)).close();
  const session = await openSession(path, { dialect: "omp" });
  await session.append({ type: "model_change", provider: "a", modelId: "b" });
  const [entry] = await session.branch();
  expect(entry).toMatchObject({ type: "model_change", model: "a/b" });
  // From here on, its entries say so.
  expect((await openSession(path)).dialect).toBe("omp");
});
