/**
 * The one classification of what a log can hold besides sound lines. `verify`, `repair` and opening
 * report findings of these kinds, and nothing else decides whether a log is damaged. Pure.
 */
import { decodeLine, lineKind, readRange, readShallow } from "@branchlog/streaming";
import type { LineKind, ByteSource, LineRest } from "@branchlog/streaming";
import type { EntryPlace, Clock } from "@branchlog/core/types";
import type { FileStat } from "@branchlog/core/internal";
import { writingMsMax } from "../limits.ts";

/**
 * What a finding says of the log. `damage`: something is lost, unreachable or not what was written.
 * `pending`: its last line may still be being written. `noted`: odd, but nothing is lost by it.
 */
export type FindingWeight = "damage" | "pending" | "noted";

/**
 * What was found.
 *
 * - Lines that are no record, also at the end: `torn`, `not-json`, `not-object`, `nul-bytes`,
 *   `too-long`.
 * - Records: `id-changed` (the line begins with another id than it has), `invalid-utf8` (bytes that
 *   are read as U+FFFD), `changed-line`, `checkpoint-difference` (a checkpoint says otherwise).
 * - The header: `damaged-header`, `before-header` (entries before it, which are not read),
 *   `second-header`, `byte-order-mark` (also before another line).
 * - The tree: `duplicate-id`, `repeated-line` (the same entry again, byte for byte),
 *   `missing-parent`, `cycle`.
 * - Links: `dangling-reference` (its target does not exist, or is not on the path), `diverged` (a
 *   branch that nobody chose).
 * - The end: `unfinished-line`, `unfinished-record` (whole but for its newline).
 * - `not-an-entry`, `unknown-type`: as in `session.diagnostics`.
 */
export type FindingKind =
  | "damaged-header"
  | "torn"
  | "not-json"
  | "not-object"
  | "nul-bytes"
  | "too-long"
  | "id-changed"
  | "invalid-utf8"
  | "changed-line"
  | "checkpoint-difference"
  | "before-header"
  | "duplicate-id"
  | "missing-parent"
  | "cycle"
  | "unfinished-line"
  | "unfinished-record"
  | "byte-order-mark"
  | "repeated-line"
  | "second-header"
  | "not-an-entry"
  | "unknown-type"
  | "dangling-reference"
  | "diverged";

/** Findings of one kind. */
export interface Finding {
  readonly kind: FindingKind;
  readonly weight: FindingWeight;
  /** Lines, entries, cycles or types. */
  readonly count: number;
}

/** How much was found of each kind. */
export type FindingCounts = Readonly<Partial<Record<FindingKind, number>>>;

/** Every kind with its weight, in the order of reports. */
const weights: readonly (readonly [FindingKind, FindingWeight])[] = [
  ["damaged-header", "damage"],
  ["torn", "damage"],
  ["not-json", "damage"],
  ["not-object", "damage"],
  ["nul-bytes", "damage"],
  ["too-long", "damage"],
  ["id-changed", "damage"],
  ["invalid-utf8", "damage"],
  ["changed-line", "damage"],
  ["checkpoint-difference", "damage"],
  ["before-header", "damage"],
  ["duplicate-id", "damage"],
  ["missing-parent", "damage"],
  ["cycle", "damage"],
  ["unfinished-line", "pending"],
  ["unfinished-record", "pending"],
  ["byte-order-mark", "noted"],
  ["repeated-line", "noted"],
  ["second-header", "noted"],
  ["not-an-entry", "noted"],
  ["unknown-type", "noted"],
  ["dangling-reference", "noted"],
  ["diverged", "noted"],
];

/** The findings of these counts, by weight and in the order of their kinds. */
export function findingsOf(counts: FindingCounts): readonly Finding[] {
  const found: Finding[] = [];
  for (const [kind, weight] of weights) {
    const count = counts[kind] ?? 0;
    if (count > 0) found.push({ kind, weight, count });
  }
  return found;
}

/** How many findings of a kind there are. */
export function countOf(findings: readonly Finding[], kind: FindingKind): number {
  return findings.find((found) => found.kind === kind)?.count ?? 0;
}

/** Whether a log with these findings is damaged. */
export function isDamaged(findings: readonly Finding[]): boolean {
  return findings.some(({ weight }) => weight === "damage");
}

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

/** `fragment`: it may still be being written. */
export type EndKind = LineKind | "fragment";

/**
 * The kind of the end of a log. Reads an end that was too long to join.
 * @param mayGrow Whether the file changed just now.
 */
export function endKind(rest: LineRest, source: ByteSource, mayGrow: boolean): EndKind {
  const { bytes, offset, length } = rest;
  const pieces = (): Iterable<Buffer> =>
    bytes === null ? readRange(source, offset, length) : [bytes];
  const decoded = bytes === null ? readShallow(pieces(), {}) : decodeLine(bytes);
  const kind = lineKind(decoded, pieces);
  return kind === "torn" && mayGrow ? "fragment" : kind;
}

/** What the end of a log is called; undefined if it is as it should be. */
export function endFinding(kind: EndKind): FindingKind | undefined {
  if (kind === "blank") return undefined;
  if (kind === "record") return "unfinished-record";
  return kind === "fragment" ? "unfinished-line" : kind;
}

/** Whether a process may still be writing to a file: if it changed just now, or in the future. */
export function mayBeWritten(stat: FileStat | null, clock: Clock): boolean {
  return stat !== null && clock.now() - stat.mtimeMs < writingMsMax;
}
