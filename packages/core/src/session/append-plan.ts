/**
 * Decides, with the log caught up and under its lock, what exactly an append writes: expectations,
 * parents, ids, retries of what is there already. Pure: it reads the index and what is planned
 * before it, and returns lines; the caller writes them. Nothing here depends on the size of a body.
 */
import { spliceDraft } from "../entries/encode-entry.ts";
import type { EncodedDraft } from "../entries/encode-entry.ts";
import { BranchlogError } from "../errors.ts";
import type { PlannedLog } from "./planned-log.ts";

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

/** What an append looks at besides the log. */
export interface AppendSituation {
  /**
   * The leaf when the append's turn came, before catching up. The log may not hold it any more.
   */
  readonly leafId: string | null;
  /** Whether entries of others stand after this session's last own append, or its opening. */
  readonly othersAppended: boolean;
  /** Whether there are such entries that this session has not looked at yet. */
  readonly hasDiverged: boolean;
  readonly onDiverged: OnDiverged;
  /** Undefined: any tail will do. */
  readonly expectedTail: string | null | undefined;
  readonly mintId: () => string;
  /** Whether the entry with that id, in the log or planned, says the same as this draft. */
  readonly sameContent: (id: string, encoded: EncodedDraft) => boolean;
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
 * Plans the append of `items` in order, behind what is planned already. A retry of entries that are
 * all there asks for nothing, so that nothing is expected of the log either.
 * @throws BranchlogError `ERR_CONFLICT` (with the actual tail), `ERR_DIVERGED`,
 * `ERR_ENTRY_NOT_FOUND` (an explicit parent), `ERR_DUPLICATE_ID` (same id, other content). What was
 * planned by then is to be rolled back.
 */
export function planAppend(
  log: PlannedLog,
  items: readonly AppendItem[],
  situation: AppendSituation,
): AppendPlan {
  const isRetry = items.every(({ id }) => id !== undefined && log.has(id));
  if (!isRetry) checkExpectation(log, situation);
  const leaf = { id: isRetry ? situation.leafId : startingLeaf(log, situation) };
  const entries = items.map((item) => planEntry(log, item, situation, leaf));
  return { entries, leafId: leaf.id };
}

/** The leaf, as it moves from item to item. */
interface PlannedLeaf {
  id: string | null;
}

function checkExpectation({ path, tailId }: PlannedLog, { expectedTail }: AppendSituation): void {
  if (expectedTail === undefined || expectedTail === tailId) return;
  throw new BranchlogError(
    "ERR_CONFLICT",
    `The last entry of ${path} is ${tailId ?? "none"}, not ${expectedTail ?? "none"} as ` +
      "expected; nothing was written. Look at what others appended, then append again.",
    { path, tail: tailId },
  );
}

function startingLeaf({ path, tailId }: PlannedLog, situation: AppendSituation): string | null {
  const { onDiverged, hasDiverged, leafId } = situation;
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
  log: PlannedLog,
  item: AppendItem,
  situation: AppendSituation,
  leaf: PlannedLeaf,
): PlannedEntry {
  const { encoded } = item;
  if (item.id !== undefined && log.has(item.id)) {
    return planRetry(log, item, item.id, situation, leaf);
  }
  const isElsewhere = situation.othersAppended && leaf.id !== log.tailId;
  const toTail = item.isMetadata && item.parent.kind === "leaf" && isElsewhere;
  const parentId = toTail ? log.tailId : parentOf(log, item.parent, leaf);
  const id = item.id ?? mintUnused(log, situation);
  const line = spliceDraft(encoded, id, parentId);
  log.add({ id, parentId, encoded });
  // A metadata entry on a foreign tail leaves the leaf where the user stands.
  if (!toTail) leaf.id = id;
  const attachedTo = toTail ? "tail" : attachment(item.parent);
  return { id, parentId, line, attachedTo, leafId: leaf.id };
}

function planRetry(
  log: PlannedLog,
  item: AppendItem,
  id: string,
  { sameContent }: AppendSituation,
  leaf: PlannedLeaf,
): PlannedEntry {
  if (!sameContent(id, item.encoded)) {
    throw new BranchlogError(
      "ERR_DUPLICATE_ID",
      `${log.path} already holds another entry with the id ${id}; nothing was written. ` +
        "Leave the id out to have one made.",
      { path: log.path, id },
    );
  }
  const { index } = log;
  const planned = log.planned(id);
  const parentId = planned === undefined ? index.parentIdOf(index.rowOfId(id)) : planned.parentId;
  // What landed without its session's knowledge is where the leaf would be.
  if (item.parent.kind === "leaf" && parentId === leaf.id) leaf.id = id;
  return { id, parentId, line: null, attachedTo: "entry", leafId: leaf.id };
}

function parentOf(log: PlannedLog, parent: ParentChoice, leaf: PlannedLeaf): string | null {
  switch (parent.kind) {
    case "leaf":
      return requireLeaf(log, leaf);
    case "tail":
      return log.tailId;
    case "root":
      return null;
    case "entry":
      if (log.has(parent.id)) return parent.id;
      throw new BranchlogError("ERR_ENTRY_NOT_FOUND", `Entry ${parent.id} not found`, {
        path: log.path,
        id: parent.id,
      });
  }
}

/** A leaf that is gone from a log is no parent: whoever reads it would find nothing above. */
function requireLeaf(log: PlannedLog, { id }: PlannedLeaf): string | null {
  if (id === null || log.has(id)) return id;
  const { path, tailId } = log;
  throw new BranchlogError(
    "ERR_DIVERGED",
    `Entry ${id}, where this session stands, is gone from ${path}: another program rewrote ` +
      "it. Nothing was written. Move or follow, then append again.",
    { path, id, tail: tailId },
  );
}

function attachment(parent: ParentChoice): PlannedEntry["attachedTo"] {
  if (parent.kind === "tail") return "tail";
  return parent.kind === "leaf" ? "leaf" : "entry";
}

/** A new id that neither the log nor the plan holds, nor any entry names as its parent. */
function mintUnused(log: PlannedLog, { mintId }: AppendSituation): string {
  for (let attempt = 0; attempt < mintAttemptsMax; attempt += 1) {
    const id = mintId();
    if (log.isUnused(id)) return id;
  }
  throw new BranchlogError(
    "ERR_APPEND_FAILED",
    `The id source gave ${mintAttemptsMax} ids that ${log.path} already holds; ` +
      "nothing was written. Check the id source.",
    { path: log.path },
  );
}
