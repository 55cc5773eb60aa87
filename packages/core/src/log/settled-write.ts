/**
 * The outcome of a write after which the log is not as planned. Every line that is found complete
 * counts as written. After a write that succeeded, in part or whole, missing lines are written
 * again; after one that failed, they are `refused`; if the log cannot be read, they are
 * `unreadable`. Lines that are written again keep their ids and follow a newline, apart from the
 * remains of the write before. Lines missing after `appendAttemptsMax` writes are `torn`. Nothing
 * is written again to another log with the name.
 */
import type { Steps } from "@branchlog/streaming";
import { appendAttemptsMax } from "../limits.ts";
import type { AppendFailure, AppendVerification, LogInFile, PlannedLine } from "./line-plan.ts";

/** `unknown`: the log is not as it would be after this write alone. */
export type WriteOutcome =
  | { readonly kind: "written" }
  | { readonly kind: "unknown" }
  | { readonly kind: "failed"; readonly cause: unknown };

export type WriteLines = (lines: readonly PlannedLine[]) => Steps<WriteOutcome>;

interface UnsettledWrite {
  readonly lines: readonly PlannedLine[];
  /** Of the log, before the write. */
  readonly generation: number;
  /** Where the first line was to begin. */
  readonly start: number;
  readonly write: Exclude<WriteOutcome, { readonly kind: "written" }>;
  readonly again: WriteLines;
}

/** Never throws. Undefined: another log has the name and holds none of the lines. */
export function* settleWrite(
  log: LogInFile,
  { lines, generation, start, write, again }: UnsettledWrite,
): Steps<AppendVerification | undefined> {
  let missing = lines;
  let outcome: WriteOutcome = write;
  for (let attempt = 1; ; attempt += 1) {
    const failure = outcome.kind === "written" ? undefined : yield* readBack(log, outcome);
    if (failure?.kind !== "unreadable") {
      missing = missing.filter((one) => heldAs(log, one) !== "yes");
      if (missing.length === 0) return verified(log, lines, start, missing, undefined);
    }
    if (failure !== undefined) return verified(log, lines, start, missing, failure);
    if (log.generation !== generation && missing.length === lines.length) return undefined;
    if (attempt === appendAttemptsMax) {
      return verified(log, lines, start, missing, { kind: "torn", cause: undefined });
    }
    // A line that only lacks its newline gets it from the separator.
    outcome = yield* again(missing.filter((one) => heldAs(log, one) === "no"));
  }
}

function heldAs(log: LogInFile, { id, line }: PlannedLine): ReturnType<LogInFile["holds"]> {
  return log.holds(id, line);
}

/** Undefined: lines that the log does not hold may be written again. */
function* readBack(
  log: LogInFile,
  outcome: UnsettledWrite["write"],
): Steps<AppendFailure | undefined> {
  const isFailed = outcome.kind === "failed";
  try {
    yield* log.catchUp();
  } catch (cause) {
    return { kind: "unreadable", cause: isFailed ? outcome.cause : cause };
  }
  return isFailed ? { kind: "refused", cause: outcome.cause } : undefined;
}

function verified(
  log: LogInFile,
  lines: readonly PlannedLine[],
  start: number,
  missing: readonly PlannedLine[],
  failure: AppendFailure | undefined,
): AppendVerification {
  const lost = new Set(missing.map(({ id }) => id));
  const displaced = new Set<string>();
  let planned = start;
  for (const { id, line } of lines) {
    if (!lost.has(id) && log.offsetOf(id) !== planned) displaced.add(id);
    planned += line.length;
  }
  return { missing: lost, displaced, isAsPlanned: false, failure };
}
