/** The kinds of damage that `verify` finds, each with its place in the log. */
import type { LineKind } from "@branchlog/streaming";
import type { EntryPlace } from "@branchlog/core/types";

/**
 * Why a line is no record. `torn`: it ends within one, as a failed append leaves
 * it. `not-json`: it is no JSON, nor the beginning of any. `not-object`: it is other JSON.
 * `nul-bytes`: it holds NULs, as after a crash of the machine. `too-long`: V8 cannot hold it.
 */
export type BadLineKind = Exclude<LineKind, "record" | "blank">;

/** A line, whatever is on it. */
export type LinePlace = Omit<EntryPlace, "id">;

/** A line that is no record. */
export interface BadLine extends LinePlace {
  readonly reason: BadLineKind;
}

/** An entry by the beginning of its line, which as a whole is not that entry. */
export interface DamagedEntry extends EntryPlace {
  /** Why its line is no record; `id-changed`: it is one, of another id. */
  readonly reason: BadLineKind | "id-changed";
}

/** An entry whose id an earlier one has, which it hides. */
export interface DuplicateId extends EntryPlace {
  /** Byte offset of the line of the entry that it hides. */
  readonly hiddenOffset: number;
  /** Whether both are the same line, byte for byte, so that nothing is hidden. */
  readonly isSame: boolean;
}

/** An entry whose parent the log does not hold. */
export interface Orphan extends EntryPlace {
  readonly missingParentId: string;
}

/** Entries of which each is the parent of the next, and the last of the first. */
export interface ParentCycle extends EntryPlace {
  /** How many entries it consists of, of which the named one comes first in the file. */
  readonly size: number;
}

/**
 * Lines whose bytes are not what a checkpoint saw: one entry, or, where `id` is null, lines that
 * are no entries, such as the header, or not any more.
 */
export interface ChangedLine extends LinePlace {
  readonly id: string | null;
}

/** What the entries of a log could be compared with. */
export interface Checksums {
  /**
   * `compared`: with the checksums of a checkpoint. `none`: no checkpoint has any of this file.
   * `rewritten`: there are some, but the log was written anew since.
   */
  readonly state: "compared" | "none" | "rewritten";
  /** Entries that were compared. */
  readonly entries: number;
  /** Entries that no checkpoint has seen yet. */
  readonly unseenEntries: number;
}

/**
 * A difference between a checkpoint and the log: of the log as a whole where `entry` is null, else
 * of that entry. `entries`: how many there are. `damage`: whether an entry can be read.
 */
export interface CheckpointDifference {
  readonly what:
    | "header"
    | "name"
    | "labels"
    | "dialect"
    | "usage"
    | "findings"
    | "lines"
    | "entries"
    | "place"
    | "id"
    | "parent"
    | "kind"
    | "time"
    | "damage";
  readonly entry: EntryPlace | null;
}

/**
 * The unterminated end of a log that is no damage: the next append adds its newline, or a process
 * may still be writing it. Other ends are bad lines.
 */
export interface PendingEnd {
  readonly offset: number;
  readonly length: number;
  /** `record`: whole but for its newline. `fragment`: cut off, in a file that changed just now. */
  readonly kind: "record" | "fragment";
}
