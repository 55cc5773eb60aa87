/**
 * The plan of a repair: every byte of the log in one step, in order, and what is added between
 * them. A plan is plain data; making one reads, and changes nothing.
 */
import type { SessionHeader } from "@branchlog/core";
import type { FileStat, LogIdentity } from "@branchlog/core/internal";
import type { Finding } from "../verify/finding.ts";
import type { PendingEnd } from "../verify/verify-findings.ts";

/**
 * Why bytes belong to no record. `torn`: the beginning of a record that was cut off. `nul-bytes`:
 * NUL bytes, or text with NUL bytes in it. `not-json`: anything else that is no JSON. `not-object`:
 * JSON, but no record. `byte-order-mark`: agents cannot read a line that begins with one.
 * `repeated`: a record that is in the log once more, byte for byte, on a line of its own.
 */
export type SetAsideReason =
  | "torn"
  | "nul-bytes"
  | "not-json"
  | "not-object"
  | "byte-order-mark"
  | "repeated";

/**
 * Where the value of a field of a rebuilt header was found. `new`: it was made up. `unknown`: the
 * field is empty, which for `cwd` means wherever the agent is started.
 */
export type HeaderSource =
  | "damaged header"
  | "later header"
  | "file name"
  | "first entry"
  | "entries"
  | "option"
  | "new"
  | "unknown";

/** Bytes of the log that the step is about: `[offset, offset + length)`. */
interface ByteRange {
  readonly offset: number;
  readonly length: number;
}

/** Bytes that stay as they are. */
export interface KeepStep extends ByteRange {
  readonly kind: "keep";
}

/** A whole record from a damaged line; it stays as it is and gets a line of its own. */
export interface RecoverStep extends ByteRange {
  readonly kind: "recover";
  /** 1-based, in the damaged log. */
  readonly line: number;
  /** Of the entry, or the session if the record is a header; null if it has none. */
  readonly id: string | null;
  /** Whether a newline is added behind it. */
  readonly addsNewline: boolean;
}

/** A newline is added behind the last line, which lacks it. */
export interface TerminateStep {
  readonly kind: "terminate";
  readonly offset: number;
  readonly line: number;
}

/** Bytes that belong to no record; they go to the salvage file. */
export interface SetAsideStep extends ByteRange {
  readonly kind: "set-aside";
  readonly line: number;
  readonly reason: SetAsideReason;
  /** The entry that the bytes were, as far as they say; null if they do not. */
  readonly id: string | null;
}

/** A header is added before `offset`, since the log has no readable one in front. */
export interface HeaderStep {
  readonly kind: "header";
  readonly offset: number;
  readonly header: SessionHeader;
  /** By field: where its value is from. */
  readonly sources: Readonly<Record<string, HeaderSource>>;
}

/**
 * A stand-in is added before `offset`: a `custom` entry `branchlog.lost`, which no model sees, with
 * the id of an entry that is lost, so that the entries below it stay connected.
 */
export interface StandInStep {
  readonly kind: "stand-in";
  readonly offset: number;
  readonly id: string;
  readonly parentId: string | null;
  readonly timestamp: string;
  /**
   * Where its parent is known from: the `damaged` record itself; or only the `order` of the file,
   * which is a guess.
   */
  readonly source: "damaged" | "order";
}

/** One step of a plan. */
export type RepairStep =
  | KeepStep
  | RecoverStep
  | TerminateStep
  | SetAsideStep
  | HeaderStep
  | StandInStep;

/** A step that changes something. */
export type RepairChange = Exclude<RepairStep, KeepStep>;

/** An entry whose parent the log does not hold. */
export interface OrphanedEntry {
  readonly id: string;
  readonly missingParentId: string;
}

/** Damage that a repair leaves, because it would have to invent something. */
export interface RemainingDamage {
  /** Entries that hide another one; one that is the same line again is not counted. */
  readonly duplicateIdCount: number;
  /** Of these, the first. */
  readonly duplicateIds: readonly string[];
  /** Entries whose parent is not in the log: their context begins with them. */
  readonly orphanCount: number;
  readonly orphans: readonly OrphanedEntry[];
  readonly cycleCount: number;
  /** An entry of each cycle of parents. */
  readonly cycles: readonly string[];
  /** Damage to records that are whole, which stay as they are. */
  readonly others: readonly Finding[];
}

/** How a log can be repaired. Made by `planRepair`, carried out by `applyRepair`. */
export interface RepairPlan {
  /** Canonical path of the log. */
  readonly path: string;
  /** Length of the log. */
  readonly bytes: number;
  /** The version that the header says, or would have said. */
  readonly version: number;
  /** In the order of the file. Their ranges cover it without gaps. */
  readonly steps: readonly RepairStep[];
  /**
   * The steps that change something. A log without damage may have some: a byte-order mark is set
   * aside, and a last record gets its newline.
   */
  readonly changes: readonly RepairChange[];
  /** What the repaired log will be. */
  readonly repaired: { readonly bytes: number; readonly entries: number };
  /** What was found in the log: what `verifySession` finds in it. */
  readonly findings: readonly Finding[];
  /** The end of the log, if a process may still be writing it; it stays as it is. */
  readonly pending: PendingEnd | null;
  readonly remaining: RemainingDamage;
  /** By what the log is known again. */
  readonly source: { readonly stat: FileStat; readonly identity: LogIdentity };
}

/** Whether the repaired log will have no damage. */
export function isSound(remaining: RemainingDamage): boolean {
  const { duplicateIdCount, orphanCount, cycleCount, others } = remaining;
  return duplicateIdCount + orphanCount + cycleCount + others.length === 0;
}
