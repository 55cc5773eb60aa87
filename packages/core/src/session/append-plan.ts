/**
 * Decides, with the log caught up and under its lock, what exactly an append writes: expectations,
 * parents, ids, retries of what is there already. Pure: it reads the index and returns lines; the
 * caller writes them. Nothing here depends on the size of a body.
 */
import { spliceDraft } from "../entries/encode-entry.ts";
import type { EncodedDraft } from "../entries/encode-entry.ts";
import { BranchlogError } from "../errors.ts";
import type { IndexTable } from "../index-table/index-table.ts";

/** Where an entry is attached: the leaf, the tail, under an entry, or as a root. */
export type ParentChoice =
  | { readonly kind: "leaf" }
  | { readonly kind: "tail" }
  | { readonly kind: "entry"; readonly id: string }
  | { readonly kind: "root" };

/** What `parent: "leaf"` does when others appended after this session last looked. */
export type OnDiverged = "branch" | "follow" | "reject";

/** One entry to append. */
export interface AppendItem {
  readonly encoded: EncodedDraft;
  /** Supplied by the caller: appending it again is a retry. */
  readonly id: string | undefined;
  readonly parent: ParentChoice;
  /** Name and label entries, which must not carry a session to a stale branch. */
  readonly isMetadata: boolean;
}

/** What an append looks at besides the index. */
export interface AppendSituation {
  readonly path: string;
  /**
   * The leaf when the append's turn came, before catching up. The log may not hold it any more.
   */
  readonly leafId: string | null;
  /** The last readable entry of the log, caught up. */
  readonly tailId: string | null;
  /** Whether entries of others stand after this session's last own append, or its opening. */
  readonly othersAppended: boolean;
  /** Whether there are such entries that this session has not looked at yet. */
  readonly hasDiverged: boolean;
  readonly onDiverged: OnDiverged;
  /** Undefined: any tail will do. */
  readonly expectedTail: string | null | undefined;
  readonly mintId: () => string;
  /** The row of a retried entry holds the same content as this draft. */
  readonly sameContent: (row: number, item: AppendItem) => boolean;
}

/** One planned entry. */
export interface PlannedEntry {
  readonly id: string;
  readonly parentId: string | null;
  /** The line to write; null for a retry of what the log holds already. */
  readonly line: Buffer | null;
  readonly attachedTo: "leaf" | "tail" | "entry";
  /** Where the leaf is once this entry is in the log. */
  readonly leafId: string | null;
}

/** What to write, in order, and where the leaf is afterwards. */
export interface AppendPlan {
  readonly entries: readonly PlannedEntry[];
  readonly leafId: string | null;
}

const mintAttemptsMax = 100;

/**
 * Plans the append of `items` in order.
 * @throws BranchlogError `ERR_CONFLICT` (with the actual tail), `ERR_DIVERGED`,
 * `ERR_ENTRY_NOT_FOUND` (an explicit parent), `ERR_DUPLICATE_ID` (same id, other content). Nothing
 * was written then.
 */
export function planAppend(
  index: IndexTable,
  items: readonly AppendItem[],
  situation: AppendSituation,
): AppendPlan {
  checkExpectation(situation);
  const state: PlanState = {
    leafId: startingLeaf(situation),
    tailId: situation.tailId,
    newIds: new Set(),
  };
  const entries = items.map((item) => planEntry(index, item, situation, state));
  return { entries, leafId: state.leafId };
}

interface PlanState {
  leafId: string | null;
  tailId: string | null;
  readonly newIds: Set<string>;
}

function checkExpectation(situation: AppendSituation): void {
  const { expectedTail, tailId, path } = situation;
  if (expectedTail === undefined || expectedTail === tailId) return;
  throw new BranchlogError(
    "ERR_CONFLICT",
    `The last entry of ${path} is ${tailId ?? "none"}, not ${expectedTail ?? "none"} as ` +
      "expected; nothing was written. Look at what others appended, then append again.",
    { path, tail: tailId },
  );
}

function startingLeaf(situation: AppendSituation): string | null {
  const { onDiverged, hasDiverged, leafId, tailId, path } = situation;
  if (!hasDiverged || onDiverged === "branch") return leafId;
  if (onDiverged === "follow") return tailId;
  throw new BranchlogError(
    "ERR_DIVERGED",
    `Others appended to ${path} since this session last looked (the last entry is ` +
      `${tailId ?? "none"}); nothing was written. Move or follow, then append again.`,
    { path, tail: tailId },
  );
}

function planEntry(
  index: IndexTable,
  item: AppendItem,
  situation: AppendSituation,
  state: PlanState,
): PlannedEntry {
  const retried = item.id === undefined ? -1 : index.rowOfId(item.id);
  if (item.id !== undefined && (retried >= 0 || state.newIds.has(item.id))) {
    const entry = planRetry(index, item, item.id, retried, situation);
    // What landed without its session's knowledge is where the leaf would be.
    if (item.parent.kind === "leaf" && entry.parentId === state.leafId) state.leafId = entry.id;
    return { ...entry, leafId: state.leafId };
  }
  const isElsewhere = situation.othersAppended && state.leafId !== state.tailId;
  const toTail = item.isMetadata && item.parent.kind === "leaf" && isElsewhere;
  const parentId = parentOf(index, item.parent, toTail, situation, state);
  const id = item.id ?? mintUnused(index, situation, state);
  const line = spliceDraft(item.encoded, id, parentId);
  state.newIds.add(id);
  state.tailId = id;
  // A metadata entry on a foreign tail leaves the leaf where the user stands.
  if (!toTail) state.leafId = id;
  const attachedTo = toTail ? "tail" : attachment(item.parent);
  return { id, parentId, line, attachedTo, leafId: state.leafId };
}

function planRetry(
  index: IndexTable,
  item: AppendItem,
  id: string,
  row: number,
  situation: AppendSituation,
): Omit<PlannedEntry, "leafId"> {
  if (row < 0 || !situation.sameContent(row, item)) {
    throw new BranchlogError(
      "ERR_DUPLICATE_ID",
      `${situation.path} already holds another entry with the id ${id}; nothing was written. ` +
        "Leave the id out to have one made.",
      { path: situation.path, id },
    );
  }
  return { id, parentId: index.parentIdOf(row), line: null, attachedTo: "entry" };
}

function parentOf(
  index: IndexTable,
  parent: ParentChoice,
  toTail: boolean,
  situation: AppendSituation,
  state: PlanState,
): string | null {
  if (toTail) return state.tailId;
  switch (parent.kind) {
    case "leaf":
      return requireLeaf(index, situation, state);
    case "tail":
      return state.tailId;
    case "root":
      return null;
    case "entry":
      if (state.newIds.has(parent.id) || index.rowOfId(parent.id) >= 0) return parent.id;
      throw new BranchlogError("ERR_ENTRY_NOT_FOUND", `Entry ${parent.id} not found`, {
        path: situation.path,
        id: parent.id,
      });
  }
}

/** A leaf that is gone from a log is no parent: whoever reads it would find nothing above. */
function requireLeaf(
  index: IndexTable,
  { path, tailId }: AppendSituation,
  { leafId, newIds }: PlanState,
): string | null {
  if (leafId === null || newIds.has(leafId) || index.rowOfId(leafId) >= 0) return leafId;
  throw new BranchlogError(
    "ERR_DIVERGED",
    `Entry ${leafId}, where this session stands, is gone from ${path}: another program rewrote ` +
      "it. Nothing was written. Move or follow, then append again.",
    { path, id: leafId, tail: tailId },
  );
}

function attachment(parent: ParentChoice): PlannedEntry["attachedTo"] {
  if (parent.kind === "tail") return "tail";
  return parent.kind === "leaf" ? "leaf" : "entry";
}

/** A new id that neither the log nor this batch holds, nor any entry names as its parent. */
function mintUnused(index: IndexTable, situation: AppendSituation, state: PlanState): string {
  for (let attempt = 0; attempt < mintAttemptsMax; attempt += 1) {
    const id = situation.mintId();
    if (index.ids.find(id) < 0 && !state.newIds.has(id)) return id;
  }
  throw new BranchlogError(
    "ERR_APPEND_FAILED",
    `The id source gave ${mintAttemptsMax} ids that ${situation.path} already holds; ` +
      "nothing was written. Check the id source.",
    { path: situation.path },
  );
}
