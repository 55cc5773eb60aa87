/**
 * The outcome of one append, from its plan and the verification of its lines: its results, or an
 * error that names what is in the log all the same. Here leaves move, to what was written.
 */
import type { Divergence } from "../entries/divergence.ts";
import { BranchlogError } from "../errors.ts";
import type { IndexTable } from "../index-table/index-table.ts";
import { rowFlags } from "../index-table/row-table.ts";
import type { AppendVerification, AppendFailure } from "./commit.ts";
import { movesLeaf } from "./plan.ts";
import type { AppendPlan, PlannedEntry } from "./plan.ts";
import type { AppendCall } from "./request.ts";

/** The log after the write. */
export interface WrittenLog {
  readonly path: string;
  readonly index: IndexTable;
  readonly generation: number;
  /** The id of the last readable entry, or null. */
  readonly tailId: string | null;
  /** Takes note that the log ends with what the owner appended at its leaf. */
  markOwn(): void;
  /** Takes note that the owner knows the entry of a row, which it appended. */
  markKnown(row: number): void;
  /** Reports what is unusual about an entry that is in the log. */
  report(entry: PlannedEntry): void;
}

/** Where an entry is: its line starts at `offset` in that generation of the log. */
export interface Position {
  readonly generation: number;
  readonly offset: number;
}

/** The acknowledgement of one appended entry. */
export interface AppendResult {
  readonly id: string;
  readonly parentId: string | null;
  /** 1-based ordinal of the entry in its generation. */
  readonly revision: number;
  readonly position: Position;
  /** The entry is at another offset than planned, because of a concurrent writer. */
  readonly displaced: boolean;
  /** What the parent is: this session's leaf, the log's tail, or an entry that was named. */
  readonly attachedTo: PlannedEntry["attachedTo"];
  /**
   * Set if the entry is on a branch that nobody chose: other writers had continued from this
   * session's leaf, unknown to it. `follow`, `reject` and `parent: "tail"` avoid that.
   */
  readonly diverged: Divergence | undefined;
}

/** The outcome of a call: results in the order of its items, or an error. */
export type AppendOutcome =
  | { readonly results: readonly AppendResult[] }
  | { readonly results: undefined; readonly error: unknown };

/** A call of which nothing was written. */
export function failedCall(error: unknown): AppendOutcome {
  return { results: undefined, error };
}

/**
 * The ids that are missing, and their descendants: in the log or not, no
 * path leads from them to a root.
 */
export function unreachableIds(
  plans: readonly (AppendPlan | undefined)[],
  { missing }: AppendVerification,
): ReadonlySet<string> {
  if (missing.size === 0) return missing;
  const loose = new Set(missing);
  for (const { id, parentId } of plans.flatMap((plan) => plan?.entries ?? [])) {
    if (parentId !== null && loose.has(parentId)) loose.add(id);
  }
  return loose;
}

/** The outcome of a call whose lines were written; moves its leaf. */
export function writtenCall(
  target: WrittenLog,
  { request, leaf }: AppendCall,
  { entries, leafId }: AppendPlan,
  verification: AppendVerification,
  loose: ReadonlySet<string>,
): AppendOutcome {
  if (verification.failure !== undefined && entries.some(({ id }) => loose.has(id))) {
    const written = entries.filter(
      ({ id, line }) => line !== null && !verification.missing.has(id),
    );
    const last = written.at(-1);
    if (last !== undefined) leaf.pin(last.leafId);
    const ids = written.map(({ id }) => id);
    return failedCall(appendError(target.path, verification.failure, ids, entries.length));
  }
  leaf.pin(leafId);
  // Metadata that was attached elsewhere leaves the leaf behind what others appended.
  const isAtLeaf = entries.some(movesLeaf);
  if (isAtLeaf) target.markOwn();
  for (const entry of entries) {
    if (!isAtLeaf) target.markKnown(target.index.rowOfId(entry.id));
    if (entry.line !== null) target.report(entry);
  }
  const results = entries.map((entry) =>
    resultOf(target, entry, verification.displaced.has(entry.id)),
  );
  const isOvertaken =
    request.expectedTail !== undefined &&
    wasOvertaken(target, entries, verification, request.expectedTail);
  return isOvertaken ? failedCall(overtaken(target, results)) : { results };
}

/** Every failure before the first byte is an error with a code that says so. */
export function notAppended(path: string, cause: unknown): BranchlogError {
  if (cause instanceof BranchlogError && cause.code !== "ERR_LOG_UNREADABLE") return cause;
  const reason = cause instanceof Error ? cause.message : String(cause);
  const message = `Nothing was appended to ${path} (${reason}). Append again once it works.`;
  return new BranchlogError("ERR_APPEND_FAILED", message, { path, cause });
}

function resultOf(target: WrittenLog, entry: PlannedEntry, displaced: boolean): AppendResult {
  const { index, generation } = target;
  const row = index.rowOfId(entry.id);
  return {
    id: entry.id,
    parentId: entry.parentId,
    revision: row + 1,
    position: { generation, offset: index.rows.offset(row) },
    displaced,
    attachedTo: entry.attachedTo,
    diverged: entry.diverged,
  };
}

/** Whether something else than the expected tail precedes what was written. */
function wasOvertaken(
  { index }: WrittenLog,
  entries: readonly PlannedEntry[],
  { isAsPlanned }: AppendVerification,
  expectedTail: string | null,
): boolean {
  const first = entries.find(({ line }) => line !== null);
  if (isAsPlanned || first === undefined) return false;
  let before = index.rowOfId(first.id) - 1;
  while (before >= 0 && index.rows.is(before, rowFlags.damaged)) before -= 1;
  return expectedTail !== (before < 0 ? null : index.idOf(before));
}

/** A conflict, although it was written: the tail moved while the lock was lost. */
function overtaken(target: WrittenLog, results: readonly AppendResult[]): BranchlogError {
  return new BranchlogError(
    "ERR_CONFLICT",
    `Others wrote to ${target.path} between the check of its tail and the write; the entries ` +
      "were written all the same. Check the log before the next append.",
    { path: target.path, tail: target.tailId, written: results.map(({ id }) => id) },
  );
}

function appendError(
  path: string,
  { kind, cause }: AppendFailure,
  written: readonly string[],
  count: number,
): BranchlogError {
  const found = `${written.length} of ${count} entries were written`;
  const reason = cause instanceof Error ? cause.message : String(cause);
  switch (kind) {
    case "refused":
      return new BranchlogError(
        "ERR_APPEND_FAILED",
        `Appending to ${path} failed (${reason}); ${found}. Append the others again once the ` +
          "cause is fixed.",
        { path, written, cause },
      );
    case "unreadable":
      return new BranchlogError(
        "ERR_APPEND_UNCERTAIN",
        `${path} could not be read after writing to it (${reason}), so it is not known what ` +
          "was written. Fix the cause, check the log, and append again what is missing.",
        { path, written, cause },
      );
    case "torn":
      return new BranchlogError(
        "ERR_APPEND_UNCERTAIN",
        `What was appended to ${path} was torn or cut short each time it was written; ${found}. ` +
          "Append the others again.",
        { path, written },
      );
  }
}

/** The ids of results, in their order. */
export function idsOf(results: readonly AppendResult[]): readonly string[] {
  return results.map(({ id }) => id);
}
