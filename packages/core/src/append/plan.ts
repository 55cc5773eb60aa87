/**
 * Decides what appends write, with the log caught up and under its lock. Appends of one group are
 * planned in order, each as if those before it were in the log; one that cannot be planned does not
 * affect the others. Pure: reads the index and returns lines.
 */
import { nearestName } from "@branchlog/streaming";
import { spliceDraft, splicedEntry } from "../entries/encode-entry.ts";
import { danglingText } from "../entries/references.ts";
import type { Reference } from "../entries/references.ts";
import { BranchlogError } from "../errors.ts";
import type { IndexTable } from "../index-table/index-table.ts";
import { divergenceAt, goneText } from "./diverged-leaf.ts";
import type { LeafCursor } from "./leaf-cursor.ts";
import { PlannedLog } from "./planned-log.ts";
import type { AppendTarget, PlannedEntry, PlannedLeaf } from "./planned-log.ts";
import type { AppendCall, AppendItem, AppendRequest, ParentChoice } from "./request.ts";
import { parentAfter, planRetry } from "./retry.ts";

/** What the owner of an appender knows of the log. */
export interface KnownRows {
  /** The first row after its last append at its leaf, or its opening. */
  readonly ownRow: number;
  /** The first row that it has not read. */
  readonly unreadRow: number;
}

export interface PlannedAppend {
  readonly call: AppendCall;
  readonly plan: AppendPlan;
}

export type PlannedCall =
  | PlannedAppend
  | { readonly call: AppendCall; readonly plan: undefined; readonly error: unknown };

/** @param cursor The leaf of the owner, of all calls. */
export function planGroup(
  target: AppendTarget,
  marks: KnownRows,
  cursor: LeafCursor,
  calls: readonly AppendCall[],
): readonly PlannedCall[] {
  const log = new PlannedLog(target);
  let leafId = startingLeafId(target, cursor);
  let known = marks;
  const planned: PlannedCall[] = [];
  for (const call of calls) {
    const { count } = log;
    try {
      const plan = planAppend(log, call.request, leafId, known);
      leafId = plan.leafId;
      if (calls.length > 1) known = knownAfter(known, plan, target.index);
      planned.push({ call, plan });
    } catch (error) {
      log.rollBack(count);
      planned.push({ call, plan: undefined, error });
    }
  }
  return planned;
}

/** Once the plan is in the log, as `ReadMarks` will have it. */
function knownAfter(known: KnownRows, { entries }: AppendPlan, index: IndexTable): KnownRows {
  // No other writer's entry follows an own one at the leaf.
  if (entries.some(movesLeaf)) return { ownRow: index.count, unreadRow: index.count };
  let { ownRow, unreadRow } = known;
  for (const { id, line } of entries) {
    const row = line === null ? index.rowOfId(id) : -1;
    if (row === ownRow) ownRow += 1;
    if (row === unreadRow) unreadRow += 1;
  }
  return { ownRow, unreadRow };
}

/** The leaf when the append's turn came, before catching up. The log may not hold it any more. */
function startingLeafId(target: AppendTarget, { following, id }: LeafCursor): string | null {
  const isLost = following && id !== null && target.index.rowOfId(id) < 0;
  return isLost ? target.tailId : id;
}

export function movesLeaf({ id, leafId, line }: PlannedEntry): boolean {
  return line !== null && leafId === id;
}

export interface AppendPlan {
  readonly entries: readonly PlannedEntry[];
  readonly leafId: string | null;
}

const mintAttemptsMax = 100;
/** Bounds the time under the lock of a search for the intended id. */
const nearIdsMax = 10_000;

/**
 * A retry of entries that are all in the log writes nothing and expects nothing. Throws
 * `ERR_CONFLICT`, `ERR_DIVERGED`, `ERR_ENTRY_NOT_FOUND`, `ERR_DUPLICATE_ID`; the caller rolls back.
 */
function planAppend(
  log: PlannedLog,
  request: AppendRequest,
  leafId: string | null,
  { ownRow, unreadRow }: KnownRows,
): AppendPlan {
  const isRetry = request.items.every(({ id }) => id !== undefined && log.has(id));
  const leaf: PlannedLeaf = { id: leafId, diverged: undefined };
  if (!isRetry) {
    leaf.id = startingLeaf(log, request, leafId, unreadRow);
    leaf.diverged = divergenceAt(log, leaf.id, unreadRow);
  }
  const othersAppended = log.index.count > ownRow;
  const entries: PlannedEntry[] = [];
  for (const item of request.items) {
    const parent = parentAfter(entries, request.items, leaf) ?? item.parent;
    entries.push(planEntry(log, item, parent, othersAppended, leaf));
  }
  return { entries, leafId: leaf.id };
}

function startingLeaf(
  log: PlannedLog,
  { expectedTail, onDiverged }: AppendRequest,
  leafId: string | null,
  unreadRow: number,
): string | null {
  const isRead = unreadRow >= log.index.count || onDiverged === "branch";
  if (expectedTail === undefined && isRead) return leafId;
  const { path, tailId } = log;
  if (expectedTail !== undefined && expectedTail !== tailId) {
    throw new BranchlogError(
      "ERR_CONFLICT",
      `The last entry of ${path} is ${tailId ?? "none"}, not ${expectedTail ?? "none"} as ` +
        "expected; nothing was written. Check what others appended, then append again.",
      { path, tail: tailId },
    );
  }
  if (isRead) return leafId;
  if (onDiverged === "follow") return tailId;
  throw new BranchlogError(
    "ERR_DIVERGED",
    `Others appended to ${path} since this session last read it (the last entry is ` +
      `${tailId ?? "none"}); nothing was written. Move or follow, then append again.`,
    { path, tail: tailId },
  );
}

function planEntry(
  log: PlannedLog,
  item: AppendItem,
  choice: ParentChoice,
  othersAppended: boolean,
  leaf: PlannedLeaf,
): PlannedEntry {
  const { encoded } = item;
  if (item.id !== undefined && log.has(item.id)) {
    return planRetry(log, { ...item, parent: choice }, item.id, leaf);
  }
  const isElsewhere = othersAppended && leaf.id !== log.tailId;
  const toTail = item.isMetadata && choice.kind === "leaf" && isElsewhere;
  const parent: ParentChoice = toTail ? { kind: "tail" } : choice;
  const parentId = parentOf(log, parent, leaf);
  const dangling = danglingReference(log, item, parentId);
  const id = item.id ?? mintUnused(log);
  const diverged = parent.kind === "leaf" ? leaf.diverged : undefined;
  const line = spliceDraft(encoded, id, parentId, diverged?.tailId);
  log.add({ id, parentId, encoded, diverged });
  // A metadata entry on a foreign tail does not move the leaf.
  if (!toTail) {
    leaf.id = id;
    leaf.diverged = undefined;
  }
  const attachedTo = parent.kind === "root" ? "entry" : parent.kind;
  const entry = diverged === undefined ? splicedEntry(encoded, id, parentId) : undefined;
  return { id, parentId, line, attachedTo, leafId: leaf.id, diverged, dangling, entry };
}

/** Undefined if all references lead to entries. Throws if the item is to be checked. */
function danglingReference(
  log: PlannedLog,
  { id: ownId, encoded, checksReferences }: AppendItem,
  parentId: string | null,
): Reference | undefined {
  if (encoded.references.length === 0) return undefined;
  // A compaction that keeps nothing names itself.
  const dangling = encoded.references.find(
    ({ id, within }) =>
      id !== ownId && !(within === "log" ? log.has(id) : log.isOnPath(parentId, id)),
  );
  if (dangling === undefined || !checksReferences) return dangling;
  const { path } = log;
  const { id } = dangling;
  const nearest = log.has(id) ? undefined : nearestName(id, log.lastIds(nearIdsMax));
  const meant = nearest === undefined ? "" : ` Did you mean ${nearest}?`;
  throw new BranchlogError(
    "ERR_ENTRY_NOT_FOUND",
    `The ${encoded.type} entry does not fit into ${path}: ${danglingText(dangling)}; nothing was ` +
      `written.${meant}`,
    { path, id },
  );
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

/** A leaf that another program removed from the log is not a parent: its path would end there. */
function requireLeaf(log: PlannedLog, { id }: PlannedLeaf): string | null {
  if (id === null || log.has(id)) return id;
  const { path, tailId } = log;
  throw new BranchlogError(
    "ERR_DIVERGED",
    `Entry ${id}, the leaf of this session, is gone from ${path}: ${goneText(path)} ` +
      "Otherwise move or follow, then append again.",
    { path, id, tail: tailId },
  );
}

/** An id that is also not used as a parentId: such an entry would gain children. */
function mintUnused(log: PlannedLog): string {
  for (let attempt = 0; attempt < mintAttemptsMax; attempt += 1) {
    const id = log.target.mintEntryId();
    if (log.isUnused(id)) return id;
  }
  throw new BranchlogError(
    "ERR_APPEND_FAILED",
    `The id source returned ${mintAttemptsMax} ids that are already in ${log.path}; ` +
      "nothing was written. Check the id source.",
    { path: log.path },
  );
}
