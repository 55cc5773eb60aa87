/**
 * What an append would write, planned over an index: parents, ids, retries, and what is refused.
 */
import { LineFramer } from "@branchlog/streaming";
import { LogIndexer, encodeDraft } from "@branchlog/core/rows";
import { describe, expect, it } from "vitest";
import { PlannedLog } from "../../../packages/core/src/append/planned-log.ts";
import { planAppend as planned } from "../../../packages/core/src/append/plan.ts";
import type {
  AppendPlan,
  AppendTarget,
  KnownRows,
} from "../../../packages/core/src/append/plan.ts";
import type {
  AppendItem,
  AppendRequest,
  ParentChoice,
} from "../../../packages/core/src/append/request.ts";
import type { SessionEntry } from "@branchlog/core";
import { thrownBy } from "../../support/typed-errors.ts";

const path = "/s.jsonl";
const header =
  '{"type":"session","version":3,"id":"s","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/w"}';

/** A log, what its session asks of it while an append is planned, and the ids looked up. */
interface Log {
  readonly planned: PlannedLog;
  readonly lookedUp: string[];
  mintEntryId: () => string;
}

/** A log of entries `[id, parentId]`; the last one is its tail. */
function logOf(...entries: readonly (readonly [string, string | null])[]): Log {
  const records = entries.map(([id, parentId]) => ({
    type: "custom",
    customType: "x",
    id,
    parentId,
    timestamp: "2026-01-01T00:00:00.000Z",
  }));
  const indexer = new LogIndexer({
    readLong: () => ({ ok: false, reason: "not-json", message: "" }),
    onFolded: () => undefined,
  });
  const lines = records.map((record) => JSON.stringify(record));
  const text = [header, ...lines].map((line) => `${line}\n`).join("");
  new LineFramer().push(Buffer.from(text), indexer);
  const target: AppendTarget = {
    path,
    index: indexer.index,
    tailId: entries.at(-1)?.[0] ?? null,
    mintEntryId: () => log.mintEntryId(),
    entrySync: (wanted): SessionEntry | undefined => {
      log.lookedUp.push(wanted);
      return records.find(({ id }) => id === wanted) as SessionEntry | undefined;
    },
  };
  const log: Log = { planned: new PlannedLog(target), lookedUp: [], mintEntryId: () => "" };
  return log;
}

function planAppend(log: Log, items: readonly AppendItem[], here: Situation): AppendPlan {
  const { leafId, onDiverged, expectedTail } = here;
  log.mintEntryId = here.mintEntryId;
  return planned(log.planned, { items, onDiverged, expectedTail }, leafId, here);
}

const encoded = encodeDraft({ type: "custom", customType: "x" }, "2026-01-01T00:00:00.000Z");

const leaf: ParentChoice = { kind: "leaf" };
const tail: ParentChoice = { kind: "tail" };
const asRoot: ParentChoice = { kind: "root" };
const under = (id: string): ParentChoice => ({ kind: "entry", id });

function item(parent: ParentChoice, id?: string): AppendItem {
  return { encoded, id, parent, isMetadata: false, checksReferences: true };
}

function metadata(parent: ParentChoice = leaf): AppendItem {
  return { ...item(parent), isMetadata: true };
}

type Situation = KnownRows &
  Pick<AppendTarget, "mintEntryId"> &
  Pick<AppendRequest, "expectedTail" | "onDiverged"> & { readonly leafId: string | null };

/** A session at the tail of a log that only it appends to; ids come as n1, n2, … */
function situation(changes: Partial<Situation> = {}): Situation {
  let minted = 0;
  return {
    leafId: null,
    ownRow: Number.POSITIVE_INFINITY,
    unreadRow: Number.POSITIVE_INFINITY,
    onDiverged: "branch",
    expectedTail: undefined,
    mintEntryId: () => `n${(minted += 1)}`,
    ...changes,
  };
}

/** A plan without its bytes, and what these say. */
function shown({ entries, leafId }: AppendPlan): object {
  const rows = entries.map(({ line, diverged, dangling, entry: known, ...entry }) => {
    expect([diverged, dangling]).toEqual([undefined, undefined]);
    expect(known).toEqual(line === null ? undefined : JSON.parse(line.toString()));
    if (line === null) return { ...entry, writes: false };
    const { id, parentId } = JSON.parse(line.toString()) as Record<string, unknown>;
    expect({ id, parentId }).toEqual({ id: entry.id, parentId: entry.parentId });
    return { ...entry, writes: true };
  });
  return { rows, leafId };
}

const root = ["a", null] as const;
const child = ["b", "a"] as const;

describe("the parent of a planned entry", () => {
  it("is the leaf, then the entry before it", () => {
    const here = situation({ leafId: "a" });
    const plan = planAppend(logOf(root, child), [item(leaf), item(leaf)], here);
    expect(shown(plan)).toEqual({
      rows: [
        { id: "n1", parentId: "a", attachedTo: "leaf", leafId: "n1", writes: true },
        { id: "n2", parentId: "n1", attachedTo: "leaf", leafId: "n2", writes: true },
      ],
      leafId: "n2",
    });
  });

  it("is the tail, a root, or a named entry, where that is asked for", () => {
    const items = [item(tail), item(asRoot), item(under("a")), item(under("n1"))];
    const plan = planAppend(logOf(root, child), items, situation({ leafId: "a" }));
    expect(plan.entries.map(({ parentId, attachedTo }) => [parentId, attachedTo])).toEqual([
      ["b", "tail"],
      [null, "entry"],
      ["a", "entry"],
      ["n1", "entry"],
    ]);
    expect(plan.leafId).toBe("n4");
  });

  it("is none in a log without entries", () => {
    const plan = planAppend(logOf(), [item(tail), item(leaf)], situation());
    expect(plan.entries.map(({ parentId }) => parentId)).toEqual([null, "n1"]);
  });

  it("is refused if the log does not hold it", () => {
    const plan = (): AppendPlan =>
      planAppend(logOf(root), [item(under("gone"))], situation({ leafId: "a" }));
    expect(thrownBy(plan)).toMatchObject({ code: "ERR_ENTRY_NOT_FOUND", path, id: "gone" });
  });

  it("is refused if the leaf is gone from the log", () => {
    const plan = (): AppendPlan =>
      planAppend(logOf(root), [item(leaf)], situation({ leafId: "gone" }));
    expect(thrownBy(plan)).toMatchObject({ code: "ERR_DIVERGED", path, id: "gone", tail: "a" });
    // It is not asked for.
    const elsewhere = planAppend(logOf(root), [item(tail)], situation({ leafId: "gone" }));
    expect(elsewhere.entries[0]?.parentId).toBe("a");
  });
});

describe("a planned name or label", () => {
  it("is at the tail and leaves the leaf where it is if others appended", () => {
    const here = situation({ leafId: "a", ownRow: 0 });
    expect(shown(planAppend(logOf(root, child), [metadata()], here))).toEqual({
      rows: [{ id: "n1", parentId: "b", attachedTo: "tail", leafId: "a", writes: true }],
      leafId: "a",
    });
  });

  it("is at the leaf if no other session appended, or the leaf is the tail", () => {
    for (const here of [situation({ leafId: "a" }), situation({ leafId: "b", ownRow: 0 })]) {
      const [entry] = planAppend(logOf(root, child), [metadata()], here).entries;
      expect(entry).toMatchObject({ parentId: here.leafId, attachedTo: "leaf", leafId: "n1" });
    }
  });

  it("is where the caller says, and moves the leaf there", () => {
    const here = situation({ leafId: "a", ownRow: 0 });
    const [entry] = planAppend(logOf(root, child), [metadata(asRoot)], here).entries;
    expect(entry).toMatchObject({ parentId: null, attachedTo: "entry", leafId: "n1" });
  });

  it("is what only names and labels do: a message branches off at the leaf", () => {
    const here = situation({ leafId: "a", ownRow: 0 });
    const [entry] = planAppend(logOf(root, child), [item(leaf)], here).entries;
    expect(entry).toMatchObject({ parentId: "a", attachedTo: "leaf", leafId: "n1" });
  });
});

describe("an append after others appended", () => {
  const diverged = { leafId: "a", unreadRow: 1 } as const;

  it("branches off, follows the tail, or is rejected, as it is told (Verifies: P2)", () => {
    const planWith = (onDiverged: AppendRequest["onDiverged"]): AppendPlan =>
      planAppend(logOf(root, child), [item(leaf)], situation({ ...diverged, onDiverged }));
    expect(planWith("branch").entries[0]?.parentId).toBe("a");
    expect(planWith("follow").entries[0]?.parentId).toBe("b");
    expect(thrownBy(() => planWith("reject"))).toMatchObject({
      code: "ERR_DIVERGED",
      path,
      tail: "b",
    });
  });

  it("stays at its leaf when nothing new came", () => {
    for (const onDiverged of ["follow", "reject"] as const) {
      const here = situation({ leafId: "a", onDiverged });
      expect(planAppend(logOf(root, child), [item(leaf)], here).entries[0]?.parentId).toBe("a");
    }
  });
});

describe("an expected tail", () => {
  it("is compared with the tail, planned entries included (Verifies: P2)", () => {
    const log = logOf(root, child);
    const expecting = (expectedTail: string | null): Situation =>
      situation({ leafId: "b", expectedTail });
    expect(planAppend(log, [item(leaf, "c")], expecting("b")).leafId).toBe("c");
    for (const stale of ["a", "b", null]) {
      expect(thrownBy(() => planAppend(log, [item(leaf)], expecting(stale)))).toMatchObject({
        code: "ERR_CONFLICT",
        path,
        tail: "c",
      });
    }
    expect(planAppend(log, [item(tail, "d")], expecting("c")).leafId).toBe("d");
  });

  it("is none of a log without entries", () => {
    const here = situation({ expectedTail: null });
    expect(planAppend(logOf(), [item(leaf)], here).leafId).toBe("n1");
    const other = situation({ expectedTail: "a" });
    expect(thrownBy(() => planAppend(logOf(), [item(leaf)], other))).toMatchObject({
      code: "ERR_CONFLICT",
      tail: null,
    });
  });
});

describe("an entry that the log holds already", () => {
  it("is written no second time, expects nothing, and is where the leaf goes (Verifies: P4)", () => {
    const here = situation({ leafId: "a", expectedTail: "other", unreadRow: 1 });
    const reject = { ...here, onDiverged: "reject" } as const;
    expect(shown(planAppend(logOf(root, child), [item(leaf, "b")], reject))).toEqual({
      rows: [{ id: "b", parentId: "a", attachedTo: "entry", leafId: "b", writes: false }],
      leafId: "b",
    });
  });

  it("leaves the leaf alone if it is attached elsewhere, or its parent was named", () => {
    const log = logOf(root, child, ["c", "b"]);
    expect(planAppend(log, [item(leaf, "b")], situation({ leafId: "c" })).leafId).toBe("c");
    expect(planAppend(log, [item(tail, "b")], situation({ leafId: "a" })).leafId).toBe("a");
  });

  it("is completed if only the others are there (Verifies: P4, P12)", () => {
    const items = ["b", "c", "d"].map((id) => item(leaf, id));
    expect(shown(planAppend(logOf(root, child), items, situation({ leafId: "a" })))).toEqual({
      rows: [
        { id: "b", parentId: "a", attachedTo: "entry", leafId: "b", writes: false },
        { id: "c", parentId: "b", attachedTo: "leaf", leafId: "c", writes: true },
        { id: "d", parentId: "c", attachedTo: "leaf", leafId: "d", writes: true },
      ],
      leafId: "d",
    });
  });

  it("is expected where one of the others is missing (Verifies: P2)", () => {
    const here = situation({ leafId: "a", expectedTail: "a" });
    const items = [item(leaf, "b"), item(leaf, "c")];
    expect(thrownBy(() => planAppend(logOf(root, child), items, here))).toMatchObject({
      code: "ERR_CONFLICT",
    });
    // An entry without an id of its own is never a retry.
    expect(thrownBy(() => planAppend(logOf(root, child), [item(leaf)], here))).toMatchObject({
      code: "ERR_CONFLICT",
    });
  });

  it("is refused if it says something else (Verifies: P4)", () => {
    const log = logOf(root);
    const other = encodeDraft({ type: "custom", customType: "y" }, "2026-01-01T00:00:00.000Z");
    const items = [{ ...item(leaf, "a"), encoded: other }];
    expect(thrownBy(() => planAppend(log, items, situation()))).toMatchObject({
      code: "ERR_DUPLICATE_ID",
      path,
      id: "a",
    });
    expect(log.lookedUp).toEqual(["a"]);
  });

  it("may be one that is only planned, with the parent planned for it", () => {
    const log = logOf(root);
    planAppend(log, [item(leaf, "b")], situation({ leafId: "a" }));
    const again = planAppend(log, [item(leaf, "b")], situation({ leafId: "a" }));
    expect(shown(again)).toEqual({
      rows: [{ id: "b", parentId: "a", attachedTo: "entry", leafId: "b", writes: false }],
      leafId: "b",
    });
  });
});

describe("a minted id", () => {
  it("is one that nothing has, is planned under, or names as its parent", () => {
    const log = logOf(root, ["b", "missing"]);
    planAppend(log, [item(leaf, "planned")], situation({ leafId: "a" }));
    const given = ["a", "missing", "planned", "free"];
    const here = situation({ leafId: "a", mintEntryId: () => given.shift() ?? "" });
    expect(planAppend(log, [item(leaf)], here).leafId).toBe("free");
  });

  it("is given up when the source has none, after 100 tries", () => {
    let tries = 0;
    const mintEntryId = (): string => {
      tries += 1;
      return "a";
    };
    const plan = (): AppendPlan =>
      planAppend(logOf(root), [item(asRoot)], situation({ mintEntryId }));
    expect(thrownBy(plan)).toMatchObject({ code: "ERR_APPEND_FAILED", path });
    expect(tries).toBe(100);
  });
});

describe("a planned log", () => {
  it("forgets what was planned since a mark when it is rolled back", () => {
    const log = logOf(root);
    const { planned: plan } = log;
    planAppend(log, [item(leaf, "b")], situation({ leafId: "a" }));
    const mark = plan.mark();
    planAppend(log, [item(leaf, "c"), item(leaf, "d")], situation({ leafId: "b" }));
    expect([plan.tailId, plan.has("c"), plan.isUnused("d")]).toEqual(["d", true, false]);
    plan.rollBack(mark);
    expect([plan.tailId, plan.has("b"), plan.has("c"), plan.has("d")]).toEqual([
      "b",
      true,
      false,
      false,
    ]);
    expect([plan.isUnused("c"), plan.planned("c"), plan.planned("b")?.parentId]).toEqual([
      true,
      undefined,
      "a",
    ]);
  });
});
