/**
 * The result of an append for its caller: where its entries are, or an error that names those that
 * were written nevertheless. Pure.
 */
import type { Divergence } from "../entries/divergence.ts";
import { BranchlogError } from "../errors.ts";
import type { IndexTable } from "../index-table/index-table.ts";
import { rowFlags } from "../index-table/row-table.ts";
import type { AppendFailure, AppendVerification } from "../log/line-plan.ts";
import type { AppendPlan, PlannedCall } from "./plan.ts";
import type { PlannedEntry } from "./planned-log.ts";
import type { AppendRequest } from "./request.ts";

export interface WrittenLog {
  readonly path: string;
  readonly index: IndexTable;
  readonly generation: number;
  readonly tailId: string | null;
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
   * On an unintended branch: others had continued from this session's leaf, unknown to it.
   * `follow`, `reject` and `parent: "tail"` avoid that.
   */
  readonly diverged: Divergence | undefined;
}

export type AppendOutcome =
  | { readonly results: readonly AppendResult[] }
  | { readonly results: undefined; readonly error: unknown };

export function failedCall(error: unknown): AppendOutcome {
  return { results: undefined, error };
}

export interface CallOutcome {
  readonly outcome: AppendOutcome;
  /** Where the leaf of the caller is now; undefined: where it was. */
  readonly leafId: string | null | undefined;
  /** All of its entries are in the log. */
  readonly isWhole: boolean;
}

/** @param unreachable See {@link unreachableIds}; of all calls of the commit. */
export function outcomeOf(
  log: WrittenLog,
  { expectedTail }: Pick<AppendRequest, "expectedTail">,
  { entries, leafId }: AppendPlan,
  verification: AppendVerification,
  unreachable: ReadonlySet<string>,
): CallOutcome {
  const { displaced, failure, missing } = verification;
  if (failure !== undefined && entries.some(({ id }) => unreachable.has(id))) {
    const written = entries.filter(({ id, line }) => line !== null && !missing.has(id));
    const error = appendError(log.path, failure, idsOf(written), idsOf(entries));
    return { outcome: failedCall(error), leafId: written.at(-1)?.leafId, isWhole: false };
  }
  const results = entries.map((entry) => resultOf(log, entry, displaced.has(entry.id)));
  const isConflict =
    expectedTail !== undefined && wasOvertaken(log, entries, verification, expectedTail);
  const outcome = isConflict ? failedCall(conflict(log, results)) : { results };
  return { outcome, leafId, isWhole: true };
}

/** The missing ids and their planned descendants: no path leads from these to a root. */
export function unreachableIds(
  entries: readonly PlannedEntry[],
  { missing }: AppendVerification,
): ReadonlySet<string> {
  if (missing.size === 0) return missing;
  const unreachable = new Set(missing);
  for (const { id, parentId } of entries) {
    if (parentId !== null && unreachable.has(parentId)) unreachable.add(id);
  }
  return unreachable;
}

export function idsOf(entries: readonly { readonly id: string }[]): readonly string[] {
  return entries.map(({ id }) => id);
}

/** Of a commit that ended without an answer: each error has the ids that the entries were given. */
export function uncertainCalls(
  path: string,
  planned: readonly PlannedCall[],
  { code, message, id, cause }: BranchlogError,
): readonly AppendOutcome[] {
  return planned.map(({ plan, ...call }) => {
    if (plan === undefined) return failedCall(notAppended(path, "error" in call && call.error));
    const facts = { path, uncertain: idsOf(plan.entries), cause, ...(id !== undefined && { id }) };
    return failedCall(new BranchlogError(code, message, facts));
  });
}

export function notAppended(path: string, cause: unknown): BranchlogError {
  if (cause instanceof BranchlogError && cause.code !== "ERR_LOG_UNREADABLE") return cause;
  const reason = cause instanceof Error ? cause.message : String(cause);
  const message = `Nothing was appended to ${path} (${reason}). Append again once it works.`;
  return new BranchlogError("ERR_APPEND_FAILED", message, { path, cause });
}

function resultOf(log: WrittenLog, entry: PlannedEntry, displaced: boolean): AppendResult {
  const { index, generation } = log;
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

function conflict(log: WrittenLog, results: readonly AppendResult[]): BranchlogError {
  return new BranchlogError(
    "ERR_CONFLICT",
    `Others wrote to ${log.path} between the check of its tail and the write; the entries ` +
      "were written anyway. Check the log before the next append.",
    { path: log.path, tail: log.tailId, written: results.map(({ id }) => id) },
  );
}

function appendError(
  path: string,
  { kind, cause }: AppendFailure,
  written: readonly string[],
  ids: readonly string[],
): BranchlogError {
  const found = `${written.length} of ${ids.length} entries were written`;
  const uncertain = ids.filter((id) => !written.includes(id));
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
        `${path} could not be read after writing to it (${reason}), so it is unknown what ` +
          "was written. Fix the cause, then append the entries again with the ids that this " +
          "error names: nothing is written twice.",
        { path, written, uncertain, cause },
      );
    case "torn":
      return new BranchlogError(
        "ERR_APPEND_UNCERTAIN",
        `Entries appended to ${path} were torn each time they were written; ${found}. ` +
          "Append the others again with the ids in this error.",
        { path, written, uncertain },
      );
  }
}
