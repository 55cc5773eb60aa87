/** Appending entries that the log, or the plan, already has: nothing is written. Pure. */
import { isDeepStrictEqual } from "node:util";
import { decodeLine } from "@branchlog/streaming";
import { divergedFrom, divergenceKey } from "../entries/divergence.ts";
import { spliceDraft } from "../entries/encode-entry.ts";
import type { EncodedDraft } from "../entries/entry-draft.ts";
import type { SessionEntry } from "../entries/entry-types.ts";
import { BranchlogError } from "../errors.ts";
import { countOfOthers } from "./diverged-leaf.ts";
import type { PlannedEntry, PlannedLeaf, PlannedLog } from "./planned-log.ts";
import type { AppendItem, ParentChoice } from "./request.ts";

/** Whether the entry with that id, in the log or planned, says the same as this draft. */
function isSame(log: PlannedLog, id: string, encoded: EncodedDraft): boolean {
  const planned = log.planned(id);
  if (planned !== undefined) return sameDraft(planned.encoded, encoded, id);
  const entry = log.target.entrySync(id);
  return entry !== undefined && sameContent(entry, encoded);
}

export function planRetry(
  log: PlannedLog,
  item: AppendItem,
  id: string,
  leaf: PlannedLeaf,
): PlannedEntry {
  if (!isSame(log, id, item.encoded)) {
    throw new BranchlogError(
      "ERR_DUPLICATE_ID",
      `${log.path} already has another entry with the id ${id}; nothing was written. ` +
        "Omit the id to get a new one.",
      { path: log.path, id },
    );
  }
  const planned = log.planned(id);
  const { parentId, diverged } = planned ?? storedFacts(log, id);
  // An entry written without its session's knowledge is where the leaf would be.
  if (item.parent.kind === "leaf" && parentId === leaf.id) leaf.id = id;
  const usual = { line: null, attachedTo: "entry", dangling: undefined, entry: undefined } as const;
  return { id, parentId, leafId: leaf.id, diverged, ...usual };
}

/** A retry need not move the leaf; the entry after it is its child nevertheless. */
export function parentAfter(
  entries: readonly PlannedEntry[],
  items: readonly AppendItem[],
  leaf: PlannedLeaf,
): ParentChoice | undefined {
  const before = entries.findLast((_, at) => items[at]?.isMetadata === false);
  return before?.line === null && before.id !== leaf.id
    ? { kind: "entry", id: before.id }
    : undefined;
}

/** The session of a stored divergent entry knew nothing below its parent. */
function storedFacts(
  { index, target }: PlannedLog,
  id: string,
): Pick<PlannedEntry, "diverged" | "parentId"> {
  const row = index.rowOfId(id);
  const parentId = index.parentIdOf(row);
  const tailId = divergedFrom(target.entrySync(id) ?? {});
  if (tailId === undefined) return { parentId, diverged: undefined };
  const parent = index.rowOfHandle(index.rows.parentHandle(row));
  return { parentId, diverged: { entryCount: countOfOthers(index, parent, 0, row), tailId } };
}

function sameContent(entry: SessionEntry, encoded: EncodedDraft): boolean {
  const offered = contentOf(encoded, entry.id);
  const marked: SessionEntry & { readonly [divergenceKey]?: unknown } = entry;
  const { timestamp: _, parentId: __, [divergenceKey]: ___, ...stored } = marked;
  return offered !== undefined && isDeepStrictEqual(stored, offered);
}

/** Whether both are the same entry except for time and parent. */
export function sameDraft(one: EncodedDraft, other: EncodedDraft, id: string): boolean {
  const first = contentOf(one, id);
  return first !== undefined && isDeepStrictEqual(first, contentOf(other, id));
}

function contentOf(encoded: EncodedDraft, id: string): Record<string, unknown> | undefined {
  const decoded = decodeLine(spliceDraft(encoded, id, null));
  if (!decoded.ok) return undefined;
  const { timestamp: _, parentId: __, ...content } = decoded.value;
  return content;
}
