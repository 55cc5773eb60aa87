/** What one call of a group is told: its results, or an error that names what was written. */
import { describe, expect, it } from "vitest";
import { IndexTable, rowFlags } from "@branchlog/core/rows";
import { rootHandle } from "../../../packages/core/src/index-table/row-table.ts";
import { outcomeOf, unreachableIds } from "../../../packages/core/src/append/append-result.ts";
import type { CallOutcome, WrittenLog } from "../../../packages/core/src/append/append-result.ts";
import type { AppendVerification } from "../../../packages/core/src/log/commit.ts";
import type { AppendPlan, PlannedEntry } from "../../../packages/core/src/append/plan.ts";

const line = Buffer.from("{}\n");

/** An entry below another one, to be written unless `line` is null. */
function planned(id: string, parentId: string | null, own: Buffer | null = line): PlannedEntry {
  const usual = { diverged: undefined, dangling: undefined, entry: undefined };
  return { id, parentId, line: own, attachedTo: "entry", leafId: id, ...usual };
}

function planOf(...entries: readonly PlannedEntry[]): AppendPlan {
  return { entries, leafId: entries.at(-1)?.id ?? null };
}

function verification(
  missing: readonly string[],
  facts: Partial<AppendVerification> = {},
): AppendVerification {
  return {
    missing: new Set(missing),
    displaced: new Set(),
    isAsPlanned: false,
    failure: missing.length === 0 ? undefined : { kind: "torn", cause: undefined },
    ...facts,
  };
}

/** A log that holds these entries in this order; those with a `!` are damaged. */
function logOf(...ids: readonly string[]): WrittenLog {
  const index = new IndexTable();
  for (const id of ids) {
    const isDamaged = id.endsWith("!");
    index.add({
      offset: 10 * index.count,
      length: 10,
      handle: index.ids.add(id),
      parentHandle: rootHandle,
      kind: index.kinds.add({ type: "custom", role: undefined, customType: undefined }),
      time: 0,
      flags: isDamaged ? rowFlags.damaged : 0,
    });
  }
  return {
    path: "/s.jsonl",
    index,
    generation: 1,
    tailId: ids.at(-1) ?? null,
  };
}

function told(
  log: WrittenLog,
  plan: AppendPlan,
  verified: AppendVerification,
  { all = [plan], expectedTail = undefined as string | null | undefined } = {},
): CallOutcome {
  const entries = all.flatMap((one) => one.entries);
  return outcomeOf(log, { expectedTail }, plan, verified, unreachableIds(entries, verified));
}

describe("the ids that no root leads to", () => {
  it("are none when no line is missing", () => {
    expect(unreachableIds([planned("b", "a")], verification([]))).toEqual(new Set());
  });

  it("are those that are missing and their descendants, in any call", () => {
    const plans = [
      planOf(planned("a", "root"), planned("b", "a")),
      planOf(planned("c", "b"), planned("d", null), planned("e", "root"), planned("f", "c")),
    ];
    const entries = plans.flatMap((plan) => plan.entries);
    expect(unreachableIds(entries, verification(["a"]))).toEqual(new Set(["a", "b", "c", "f"]));
  });
});

describe("a call whose entries were all written", () => {
  it("gets its results, with where each entry is, and moves its leaf to the last", () => {
    const log = logOf("first", "a", "b");
    const plan = planOf(planned("a", "first"), planned("b", "a"));
    const { outcome, leafId, isWhole } = told(
      log,
      plan,
      verification([], { displaced: new Set(["b"]) }),
    );
    expect(outcome.results).toEqual([
      {
        id: "a",
        parentId: "first",
        revision: 2,
        position: { generation: 1, offset: 10 },
        displaced: false,
        attachedTo: "entry",
      },
      {
        id: "b",
        parentId: "a",
        revision: 3,
        position: { generation: 1, offset: 20 },
        displaced: true,
        attachedTo: "entry",
      },
    ]);
    expect([leafId, isWhole]).toEqual(["b", true]);
  });

  it("gets its results when another call of the group lost a line they do not descend from", () => {
    const log = logOf("first", "a");
    const own = planOf(planned("a", "first"));
    const all = [own, planOf(planned("z", "a"))];
    const { outcome } = told(log, own, verification(["z"]), { all });
    expect(outcome.results?.map(({ id }) => id)).toEqual(["a"]);
  });
});

describe("a call of which an entry is missing, or descends from what is missing", () => {
  it("fails, names what was written, and moves its leaf there", () => {
    const log = logOf("first", "a");
    const plan = planOf(planned("a", "first"), planned("b", "a"));
    const { outcome, leafId, isWhole } = told(log, plan, verification(["b"]));
    expect(outcome).toMatchObject({ error: { code: "ERR_APPEND_UNCERTAIN", written: ["a"] } });
    expect([leafId, isWhole]).toEqual(["a", false]);
  });

  it("fails when the parent was another call's: the entry is named, as it is in the log", () => {
    const log = logOf("first", "b");
    const other = planOf(planned("a", "first"));
    const own = planOf(planned("b", "a"));
    const { outcome, leafId, isWhole } = told(log, own, verification(["a"]), { all: [other, own] });
    expect(outcome).toMatchObject({ error: { code: "ERR_APPEND_UNCERTAIN", written: ["b"] } });
    expect([leafId, isWhole]).toEqual(["b", false]);
  });

  it("does not name what it did not write, and leaves its leaf where it was then", () => {
    const log = logOf("retried");
    const plan = planOf(planned("retried", null, null), planned("b", "retried"));
    const { outcome, leafId, isWhole } = told(log, plan, verification(["b"]));
    expect(outcome).toMatchObject({ error: { written: [] } });
    expect([leafId, isWhole]).toEqual([undefined, false]);
  });

  it.each([
    ["refused", "ERR_APPEND_FAILED"],
    ["unreadable", "ERR_APPEND_UNCERTAIN"],
    ["torn", "ERR_APPEND_UNCERTAIN"],
  ] as const)("fails by a code for each reason: %s", (kind, code) => {
    const cause = new Error("the reason");
    const plan = planOf(planned("b", null));
    const failure = kind === "torn" ? { kind, cause: undefined } : { kind, cause };
    const { outcome } = told(logOf(), plan, verification(["b"], { failure }));
    expect(outcome).toMatchObject({ error: { code, path: "/s.jsonl", written: [] } });
    if (kind !== "torn") expect(outcome).toMatchObject({ error: { cause } });
  });
});

describe("a call that expected a tail", () => {
  const plan = planOf(planned("a", "first"));
  const conflict = { error: { code: "ERR_CONFLICT", written: ["a"], path: "/s.jsonl", tail: "a" } };
  const at = (expectedTail: string | null, ...ids: readonly string[]): CallOutcome["outcome"] =>
    told(logOf(...ids), plan, verification([]), { expectedTail }).outcome;

  it("conflicts when another entry precedes what it wrote, and names what was written", () => {
    expect(at("first", "first", "peer", "a")).toMatchObject(conflict);
    expect(at(null, "peer", "a")).toMatchObject(conflict);
    expect(at("first", "a")).toMatchObject(conflict);
  });

  it("holds when its tail precedes what it wrote, whatever is damaged in between", () => {
    expect(at("first", "first", "a").results).toHaveLength(1);
    expect(at("first", "first", "x!", "y!", "a").results).toHaveLength(1);
    expect(at(null, "a").results).toHaveLength(1);
    expect(at(null, "x!", "a").results).toHaveLength(1);
  });

  it("holds when everything is as planned, and when nothing was to be written", () => {
    const log = logOf("first", "peer", "a");
    const asPlanned = verification([], { isAsPlanned: true });
    expect(told(log, plan, asPlanned, { expectedTail: "first" }).outcome.results).toHaveLength(1);
    const retry = planOf(planned("a", "first", null));
    const { outcome } = told(log, retry, verification([]), { expectedTail: "first" });
    expect(outcome.results).toHaveLength(1);
  });

  it("is told apart from a retry by the first line that it wrote", () => {
    const log = logOf("a", "first", "b");
    const both = planOf(planned("a", null, null), planned("b", "first"));
    const { outcome } = told(log, both, verification([]), { expectedTail: "first" });
    expect(outcome.results).toHaveLength(2);
  });
});
