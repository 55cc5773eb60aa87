/**
 * Writes lines to the end of a log and looks where they landed. What a write came to, by what the
 * look finds; every line that is found whole counts, whatever the system said:
 *
 * | the write       | looks as planned | looks otherwise           | cannot be read |
 * |-----------------|------------------|---------------------------|----------------|
 * | took every byte | all landed       | what is missing, again    | unreadable     |
 * | took fewer      | -                | what is missing, again    | unreadable     |
 * | failed          | -                | what is missing, refused  | unreadable     |
 *
 * Lines that are written again keep their ids and go behind a newline, so that debris of the write
 * before stays apart. What is missing after `appendAttemptsMax` writes is torn. Nothing is written
 * again to another log that took the name meanwhile.
 */
import { isBranchlogError } from "../errors.ts";
import { appendAttemptsMax } from "../limits.ts";
import type { FileStat } from "../store/ports.ts";
import { portStep } from "./steps.ts";
import type { Steps } from "./steps.ts";

/** The log as writing needs it. */
export interface LandingLog {
  /** Reads and indexes what is new. Throws if the log is gone. */
  catchUp(): Steps<void>;
  /** Counts up whenever the log turns out to be another one. */
  readonly generation: number;
  /** Position after the last byte that was read. */
  readonly end: number;
  /** Whether a line can be appended as it is, without a newline before it. */
  readonly isTerminated: boolean;
  /** One write at the end of the file; returns the bytes taken. */
  writeSync(bytes: Buffer): number;
  statSync(): FileStat | null;
  /** Whether the file with this stat is the one that was read, with `bytes` more at its end. */
  grewBy(stat: FileStat, bytes: number): boolean;
  /** Indexes bytes that were written at `end` without reading them. */
  adopt(bytes: Buffer, stat: FileStat): void;
  /**
   * Whether the log holds exactly this line as the entry of that id, or all but its newline;
   * unknown where it cannot be read.
   */
  holds(id: string, line: Buffer): "no" | "unknown" | "unterminated" | "yes";
  /** Where the line of an entry starts; -1 if there is none. */
  offsetOf(id: string): number;
}

/** A line that is to be written, newline included. */
export interface PlannedLine {
  readonly id: string;
  readonly line: Buffer;
}

/** Why lines are missing: the system refused, others tore them, or nobody can tell. */
export interface LandingFailure {
  readonly kind: "refused" | "torn" | "unreadable";
  readonly cause: unknown;
}

/** What became of the lines. */
export interface Landing {
  /** Ids of lines that are not known to be in the log. */
  readonly missing: ReadonlySet<string>;
  /** Ids of lines that stand elsewhere than planned, because others wrote at the same time. */
  readonly displaced: ReadonlySet<string>;
  /** Whether nothing came between the plan and the log. */
  readonly isAsPlanned: boolean;
  /** Why lines are missing; undefined if none is. */
  readonly failure: LandingFailure | undefined;
}

const none: ReadonlySet<string> = new Set();
const asPlanned: Landing = {
  missing: none,
  displaced: none,
  isAsPlanned: true,
  failure: undefined,
};
const newline = Buffer.from("\n");

/**
 * Writes the lines as one write. Never throws: what went wrong is part of the answer. Null: another
 * log has the name and holds none of the lines, which were not planned for it.
 * @param needsFence A newline comes first in any case.
 */
export function* land(
  log: LandingLog,
  lines: readonly PlannedLine[],
  needsFence: boolean,
): Steps<Landing | null> {
  if (lines.length === 0) return asPlanned;
  const { generation } = log;
  const start = log.end + (needsFence || !log.isTerminated ? newline.length : 0);
  let missing = lines;
  for (let attempt = 1; ; attempt += 1) {
    const write = yield* writeAndLook(log, missing, attempt > 1, needsFence);
    if (write.kind === "as planned" && attempt === 1) return asPlanned;
    const failure = write.kind === "as planned" ? undefined : yield* findOut(log, write.error);
    if (failure?.kind === "unreadable") return settle(log, lines, start, missing, failure);
    missing = missing.filter(({ id, line }) => log.holds(id, line) !== "yes");
    if (missing.length === 0) return settle(log, lines, start, missing, undefined);
    if (failure !== undefined) return settle(log, lines, start, missing, failure);
    if (log.generation !== generation && missing.length === lines.length) return null;
    if (attempt === appendAttemptsMax) {
      return settle(log, lines, start, missing, { kind: "torn", cause: undefined });
    }
  }
}

type Write =
  | { readonly kind: "as planned" }
  /** `error` is what the write itself threw. */
  | { readonly kind: "otherwise"; readonly error: unknown };

const otherwise: Write = { kind: "otherwise", error: undefined };

/** One write, and one look at the file. If it is as planned, the log has taken the lines in. */
function* writeAndLook(
  log: LandingLog,
  missing: readonly PlannedLine[],
  isAgain: boolean,
  needsFence: boolean,
): Steps<Write> {
  // A line that only lacks its newline gets it from the seal.
  const isNew = ({ id, line }: PlannedLine): boolean => log.holds(id, line) === "no";
  const fresh = (isAgain ? missing.filter(isNew) : missing).map(({ line }) => line);
  const isApart = log.isTerminated && !needsFence;
  const bytes = joined(isApart ? fresh : [newline, ...fresh]);
  yield portStep("write");
  let taken: number;
  try {
    taken = log.writeSync(bytes);
  } catch (error) {
    // Another log has the name: nothing was written to it, which is no failure of the system.
    return isBranchlogError(error, "ERR_LOG_GONE") ? otherwise : { kind: "otherwise", error };
  }
  yield portStep("stat");
  const stat = lookAt(log);
  if (stat === null || taken < bytes.length || !log.grewBy(stat, taken)) return otherwise;
  return takeIn(log, bytes, stat);
}

/** What cannot be taken in from memory is read like the bytes of others. */
function takeIn(log: LandingLog, bytes: Buffer, stat: FileStat): Write {
  try {
    log.adopt(bytes, stat);
    return { kind: "as planned" };
  } catch {
    return otherwise;
  }
}

function joined(pieces: readonly Buffer[]): Buffer {
  const [first] = pieces;
  return first !== undefined && pieces.length === 1 ? first : Buffer.concat(pieces);
}

/** A look that fails shows nothing: the log is read on then. */
function lookAt(log: LandingLog): FileStat | null {
  try {
    return log.statSync();
  } catch {
    return null;
  }
}

/** Reads on what the log holds now; the failure that counts if lines are missing then. */
function* findOut(log: LandingLog, error: unknown): Steps<LandingFailure | undefined> {
  try {
    yield* log.catchUp();
  } catch (cause) {
    return { kind: "unreadable", cause: error ?? cause };
  }
  return error === undefined ? undefined : { kind: "refused", cause: error };
}

function settle(
  log: LandingLog,
  lines: readonly PlannedLine[],
  start: number,
  missing: readonly PlannedLine[],
  failure: LandingFailure | undefined,
): Landing {
  const lost = new Set(missing.map(({ id }) => id));
  const displaced = new Set<string>();
  let planned = start;
  for (const { id, line } of lines) {
    if (!lost.has(id) && log.offsetOf(id) !== planned) displaced.add(id);
    planned += line.length;
  }
  return { missing: lost, displaced, isAsPlanned: false, failure };
}
