/** Lines to commit, their file, and the result. */
import type { Steps } from "@branchlog/streaming";
import type { SessionEntry } from "../entries/entry-types.ts";
import type { FileStat } from "../platform/ports.ts";

export interface LinePlan {
  readonly lines: readonly PlannedLine[];
  /** Whether entries are acknowledged that the log was found to hold. */
  readonly hasRetries?: boolean;
  /** The write begins with a newline even after a terminated line. */
  readonly needsSeparator: boolean;
}

export interface PlannedLine {
  readonly id: string;
  readonly line: Buffer;
  /** As decoding the line gives it, for readers; undefined: they decode it. */
  readonly entry?: SessionEntry | undefined;
}

/** What a commit to a file needs of the log. */
export interface LogInFile {
  readonly path: string;
  readonly end: number;
  readonly isTerminated: boolean;
  readonly generation: number;
  catchUp(): Steps<void>;
  statSync(): FileStat | null;
  /** Appends in one write; returns how many bytes were written. */
  writeSync(bytes: Buffer): number;
  grewBy(stat: FileStat, bytes: number): boolean;
  /** Indexes `bytes`, which were written at the end: these lines. */
  adopt(bytes: Buffer, stat: FileStat, lines: readonly PlannedLine[]): void;
  holds(id: string, line: Buffer): "no" | "unknown" | "unterminated" | "yes";
  offsetOf(id: string): number;
}

export interface AppendFailure {
  readonly kind: "refused" | "torn" | "unreadable";
  readonly cause: unknown;
}

export interface AppendVerification {
  /** Lines that are not known to be in the log. */
  readonly missing: ReadonlySet<string>;
  /** Lines at other offsets than planned, because of concurrent writers. */
  readonly displaced: ReadonlySet<string>;
  readonly isAsPlanned: boolean;
  readonly failure: AppendFailure | undefined;
}
