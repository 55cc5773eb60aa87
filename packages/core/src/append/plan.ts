/**
 * Decides, with the log caught up and under its lock, what exactly appends write: expectations,
 * parents, ids, retries of what is stored already. Appends that are written together are planned in
 * the order in which they were asked for, each as if those before it were in the log, so that a
 * group means what its appends would mean one after the other; one that cannot be planned does not
 * keep the others back. Pure: it reads the index and returns lines; the caller writes them. Nothing
 * here depends on the size of a body.
 */
import { nearestName } from "@branchlog/streaming";
import { spliceDraft } from "../entries/encode-entry.ts";
import type { EncodedDraft } from "../entries/encode-entry.ts";
import { divergedFrom } from "../entries/divergence.ts";
import type { Divergence } from "../entries/divergence.ts";
import type { SessionEntry } from "../entries/entry-types.ts";
import { danglingText } from "../entries/references.ts";
import type { Reference } from "../entries/references.ts";
import { BranchlogError } from "../errors.ts";
import { rootHandle } from "../index-table/row-table.ts";
import type { IndexTable } from "../index-table/index-table.ts";
import { isOnPath, rowsBelow } from "../index-table/tree-walk.ts";
import type { LeafCursor, AppendCall, AppendItem, OnDiverged, ParentChoice } from "./request.ts";
import { isMetadataType, sameContent, sameDraft } from "./request.ts";

/** The log and its owner, as planning sees them. */
export interface AppendTarget {
  readonly path: string;
  readonly index: IndexTable;
  /** The id of the last readable entry, or null. */
  readonly tailId: string | null;
  /** The first row after the owner's last append at its leaf, or its opening. */
  readonly ownRow: number;
  /** The first row that the owner has not read. */
  readonly unreadRow: number;
  /** A new id; it may be taken. */
  mintEntryId(): string;
  entrySync(id: string): SessionEntry | undefined;
}

/** A call with its plan, or the error of planning it. */
export type PlannedCall =
  | { readonly call: AppendCall; readonly plan: AppendPlan }
  | { readonly call: AppendCall; readonly plan: undefined; readonly error: unknown };

/**
 * Plans the calls, each as if those before it were in the log. Never throws: what is wrong with a
 * call is part of its answer.
 */
export function planGroup(
  target: AppendTarget,
  calls: readonly AppendCall[],
): readonly PlannedCall[] {
  const log = new PlannedLog(target.path, target.index, target.tailId);
  const leaves = calls.length > 1 ? new Map<LeafCursor, string | null>() : undefined;
  let marks: ReadMarks = target;
  return calls.map((call) => {
    const mark = log.mark();
    try {
      const preconditions = preconditionsOf(target, log, call, marks, leaves);
      const plan = planAppend(log, call.request.items, preconditions);
      leaves?.set(call.leaf, plan.leafId);
      marks = marksAfter(marks, plan, target.index);
      return { call, plan };
    } catch (error) {
      log.rollBack(mark);
      return { call, plan: undefined, error };
    }
  });
}

/** Up to where an owner knows its log. */
type ReadMarks = Pick<AppendTarget, "ownRow" | "unreadRow">;

/** The marks once a plan is in the log, as `writtenCall` sets them. */
function marksAfter(marks: ReadMarks, { entries }: AppendPlan, index: IndexTable): ReadMarks {
  // No other writer's entry follows an own one at the leaf.
  if (entries.some(movesLeaf)) return { ownRow: index.count, unreadRow: index.count };
  let { ownRow, unreadRow } = marks;
  for (const { id, line } of entries) {
    const row = line === null ? index.rowOfId(id) : -1;
    if (row === ownRow) ownRow += 1;
    if (row === unreadRow) unreadRow += 1;
  }
  return { ownRow, unreadRow };
}

/** @param leaves Where the calls planned so far leave the leaves of their sessions, if any. */
function preconditionsOf(
  target: AppendTarget,
  log: PlannedLog,
  { request, leaf }: AppendCall,
  { ownRow, unreadRow }: ReadMarks,
  leaves: ReadonlyMap<LeafCursor, string | null> | undefined,
): AppendPreconditions {
  const moved = leaves?.get(leaf);
  return {
    leafId: moved === undefined ? startingLeafId(target, leaf) : moved,
    othersAppended: target.index.count > ownRow,
    unreadRow,
    onDiverged: request.onDiverged,
    expectedTail: request.expectedTail,
    mintId: () => target.mintEntryId(),
    hasSameContent: (id, encoded) => isSame(target, log, id, encoded),
    divergedFrom: (id) => divergedFrom(target.entrySync(id) ?? {}),
  };
}

function startingLeafId(
  { index, tailId }: AppendTarget,
  { following, id }: LeafCursor,
): string | null {
  const isLost = following && id !== null && index.rowOfId(id) < 0;
  return isLost ? tailId : id;
}

function isSame(target: AppendTarget, log: PlannedLog, id: string, encoded: EncodedDraft): boolean {
  const planned = log.planned(id);
  if (planned !== undefined) return sameDraft(planned.encoded, encoded, id);
  const entry: SessionEntry | undefined = target.entrySync(id);
  return entry !== undefined && sameContent(entry, encoded);
}

/** What the plan of an append depends on besides the log. */
export interface AppendPreconditions {
  /** The leaf when the append's turn came, before catching up. The log may not hold it any more. */
  readonly leafId: string | null;
  /** Whether other writers appended after this session's last own append, or its opening. */
  readonly othersAppended: boolean;
  /** The first of them that this session has not read, or the count of rows. */
  readonly unreadRow: number;
  readonly onDiverged: OnDiverged;
  /** Undefined: any tail will do. */
  readonly expectedTail: string | null | undefined;
  readonly mintId: () => string;
  /** Whether the entry with that id, in the log or planned, says the same as this draft. */
  readonly hasSameContent: (id: string, encoded: EncodedDraft) => boolean;
  /** The tail from which the entry of the log with that id diverged, or undefined. */
  readonly divergedFrom: (id: string) => string | undefined;
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
  /** Set if other writers had continued from the same leaf, unknown to the session. */
  readonly diverged: Divergence | undefined;
  /** The reference of this entry that leads nowhere, where that is not refused. */
  readonly dangling: Reference | undefined;
}

/** Whether an entry is new, and the leaf is at it: metadata may be attached elsewhere. */
export function movesLeaf({ id, leafId, line }: PlannedEntry): boolean {
  return line !== null && leafId === id;
}

export interface AppendPlan {
  readonly entries: readonly PlannedEntry[];
  readonly leafId: string | null;
}

const mintAttemptsMax = 100;
/** Ids among which the one is sought that was probably meant: under the lock, in milliseconds. */
const nearIdsMax = 10_000;

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
  preconditions: AppendPreconditions,
): AppendPlan {
  const isRetry = items.every(({ id }) => id !== undefined && log.has(id));
  if (!isRetry) checkExpectation(log, preconditions);
  const id = isRetry ? preconditions.leafId : startingLeaf(log, preconditions);
  const leaf = { id, diverged: isRetry ? undefined : divergenceAt(log, id, preconditions) };
  const entries = items.map((item) => planEntry(log, item, preconditions, leaf));
  return { entries, leafId: leaf.id };
}

/** The leaf, as it moves from item to item. */
interface PlannedLeaf {
  id: string | null;
  /** Of an entry below the leaf, as long as it has not moved. */
  diverged: Divergence | undefined;
}

function checkExpectation(
  { path, tailId }: PlannedLog,
  { expectedTail }: AppendPreconditions,
): void {
  if (expectedTail === undefined || expectedTail === tailId) return;
  throw new BranchlogError(
    "ERR_CONFLICT",
    `The last entry of ${path} is ${tailId ?? "none"}, not ${expectedTail ?? "none"} as ` +
      "expected; nothing was written. Look at what others appended, then append again.",
    { path, tail: tailId },
  );
}

/**
 * What an entry below the leaf would branch off from without the session's knowledge; undefined if
 * the leaf had children that the session knew, so that it branches on purpose.
 */
function divergenceAt(
  { index, tailId }: PlannedLog,
  leafId: string | null,
  { unreadRow }: AppendPreconditions,
): Divergence | undefined {
  if (unreadRow >= index.count || tailId === null || leafId === tailId) return undefined;
  // The log was rewritten: the session knew some of these rows, and not which.
  if (unreadRow === 0 && leafId !== null) return undefined;
  const handle = leafId === null ? rootHandle : index.ids.find(leafId);
  if (hasKnownChild(index, handle, unreadRow)) return undefined;
  const entryCount = countOfOthers(index, index.rowOfHandle(handle), unreadRow, index.count);
  return entryCount === 0 ? undefined : { entryCount, tailId };
}

/** Whether one of the first rows is below a handle, and is not metadata. */
function hasKnownChild(index: IndexTable, handle: number, unreadRow: number): boolean {
  let row = index.firstChildOf(handle);
  while (row >= 0 && row < unreadRow && isMetadataType(index.kindOf(row).type)) {
    row = index.rows.nextSibling(row);
  }
  return row >= 0 && row < unreadRow;
}

/** Entries that are below a row (-1: in the log), in a range of rows, and are not metadata. */
function countOfOthers(index: IndexTable, ancestor: number, from: number, to: number): number {
  const rows = rowsBelow(index, ancestor, from, to);
  return rows.filter((row) => !isMetadataType(index.kindOf(row).type)).length;
}

function startingLeaf(
  { index, path, tailId }: PlannedLog,
  preconditions: AppendPreconditions,
): string | null {
  const { onDiverged, unreadRow, leafId } = preconditions;
  if (unreadRow >= index.count || onDiverged === "branch") return leafId;
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
  preconditions: AppendPreconditions,
  leaf: PlannedLeaf,
): PlannedEntry {
  const { encoded } = item;
  if (item.id !== undefined && log.has(item.id)) {
    return planRetry(log, item, item.id, preconditions, leaf);
  }
  const isElsewhere = preconditions.othersAppended && leaf.id !== log.tailId;
  const toTail = item.isMetadata && item.parent.kind === "leaf" && isElsewhere;
  const parentId = toTail ? log.tailId : parentOf(log, item.parent, leaf);
  const dangling = danglingReference(log, item, parentId);
  const id = item.id ?? mintUnused(log, preconditions);
  const diverged = toTail || item.parent.kind !== "leaf" ? undefined : leaf.diverged;
  const line = spliceDraft(encoded, id, parentId, diverged?.tailId);
  log.add({ id, parentId, encoded, diverged });
  // A metadata entry on a foreign tail does not move the leaf.
  if (!toTail) {
    leaf.id = id;
    leaf.diverged = undefined;
  }
  const attachedTo = toTail ? "tail" : attachment(item.parent);
  return { id, parentId, line, attachedTo, leafId: leaf.id, diverged, dangling };
}

/**
 * The reference of an item that leads nowhere, undefined if all lead somewhere.
 * @throws BranchlogError `ERR_ENTRY_NOT_FOUND`, with the nearest id, if the item is to be checked.
 */
function danglingReference(
  log: PlannedLog,
  { id: ownId, encoded, checksReferences }: AppendItem,
  parentId: string | null,
): Reference | undefined {
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

function planRetry(
  log: PlannedLog,
  item: AppendItem,
  id: string,
  { hasSameContent, divergedFrom: divergedFromOf }: AppendPreconditions,
  leaf: PlannedLeaf,
): PlannedEntry {
  if (!hasSameContent(id, item.encoded)) {
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
  // What was written without its session's knowledge is where the leaf would be.
  if (item.parent.kind === "leaf" && parentId === leaf.id) leaf.id = id;
  const tailId = planned === undefined ? divergedFromOf(id) : undefined;
  const stored = tailId === undefined ? undefined : divergenceOf(index, id, tailId);
  const diverged = planned === undefined ? stored : planned.diverged;
  const usual = { line: null, attachedTo: "entry", dangling: undefined } as const;
  return { id, parentId, leafId: leaf.id, diverged, ...usual };
}

/** What a stored entry diverged from: its session knew nothing below its parent. */
function divergenceOf(index: IndexTable, id: string, tailId: string): Divergence {
  const row = index.rowOfId(id);
  const parent = index.rowOfHandle(index.rows.parentHandle(row));
  return { entryCount: countOfOthers(index, parent, 0, row), tailId };
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

/** A leaf that is gone from a log is no parent: its path would end there. */
function requireLeaf(log: PlannedLog, { id }: PlannedLeaf): string | null {
  if (id === null || log.has(id)) return id;
  const { path, tailId } = log;
  throw new BranchlogError(
    "ERR_DIVERGED",
    `Entry ${id}, the leaf of this session, is gone from ${path}: another program rewrote ` +
      "it. Nothing was written. Move or follow, then append again.",
    { path, id, tail: tailId },
  );
}

function attachment(parent: ParentChoice): PlannedEntry["attachedTo"] {
  if (parent.kind === "tail") return "tail";
  return parent.kind === "leaf" ? "leaf" : "entry";
}

/** A new id that neither the log nor the plan holds, nor any entry names as its parent. */
function mintUnused(log: PlannedLog, { mintId }: AppendPreconditions): string {
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

/**
 * The log as it will be once everything planned so far is in it: what the index holds, and the
 * entries that are to be written together. A plan that fails is taken back and leaves no trace.
 */
export class PlannedLog {
  readonly path: string;
  readonly index: IndexTable;
  readonly #planned = new Map<string, PlannedEntryFacts>();
  readonly #order: string[] = [];
  #tailId: string | null;

  /** @param tailId The last readable entry of the log, caught up. */
  constructor(path: string, index: IndexTable, tailId: string | null) {
    this.path = path;
    this.index = index;
    this.#tailId = tailId;
  }

  /** The last entry, planned ones included. */
  get tailId(): string | null {
    return this.#tailId;
  }

  /** Whether the log has an entry with that id, or will have. */
  has(id: string): boolean {
    return this.#planned.has(id) || this.index.rowOfId(id) >= 0;
  }

  /** The planned entry with that id. */
  planned(id: string): PlannedEntryFacts | undefined {
    return this.#planned.get(id);
  }

  /** Whether nothing has this id, nor names it as its parent. */
  isUnused(id: string): boolean {
    return !this.#planned.has(id) && this.index.ids.find(id) < 0;
  }

  /** Whether the entry with that id is on the path to another one, that one included. */
  isOnPath(from: string | null, id: string): boolean {
    let at = from;
    for (let planned = this.#ofPlan(at); planned !== undefined; planned = this.#ofPlan(at)) {
      if (at === id) return true;
      at = planned.parentId;
    }
    return at !== null && isOnPath(this.index, this.index.rowOfId(at), id);
  }

  #ofPlan(id: string | null): PlannedEntryFacts | undefined {
    return id === null ? undefined : this.#planned.get(id);
  }

  /** The ids of so many of the last entries, planned ones included, the last first. */
  lastIds(countMax: number): string[] {
    const ids = this.#order.slice(-countMax).toReversed();
    for (let row = this.index.count - 1; row >= 0 && ids.length < countMax; row -= 1) {
      ids.push(this.index.idOf(row));
    }
    return ids;
  }

  /** Plans one more entry at the end. */
  add(entry: PlannedEntryFacts): void {
    this.#planned.set(entry.id, entry);
    this.#order.push(entry.id);
    this.#tailId = entry.id;
  }

  /** The state now, to return to. */
  mark(): PlanMark {
    return { count: this.#order.length, tailId: this.#tailId };
  }

  /** Takes back what was planned since. */
  rollBack({ count, tailId }: PlanMark): void {
    for (const id of this.#order.splice(count)) this.#planned.delete(id);
    this.#tailId = tailId;
  }
}

/** An entry that is to be written. */
export interface PlannedEntryFacts {
  readonly id: string;
  readonly parentId: string | null;
  readonly encoded: EncodedDraft;
  readonly diverged: Divergence | undefined;
}

/** A state of the planned log that can be returned to. */
export interface PlanMark {
  readonly count: number;
  readonly tailId: string | null;
}
