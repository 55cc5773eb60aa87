/** The classification of findings that `verify`, `repair` and opening share. */
import { decodeLine, lineKind, readRange, readShallow } from "@branchlog/streaming";
import type { LineKind, ByteSource, LineRest } from "@branchlog/streaming";
import type { EntryPlace, Clock, FileStat } from "@branchlog/core/types";
import { writingMsMax } from "../limits.ts";

/** Every kind by its weight, in the order of reports. */
export const findingKinds = {
  damage: [
    "damaged-header",
    "torn",
    "not-json",
    "not-object",
    "nul-bytes",
    "too-long",
    "id-changed",
    "invalid-utf8",
    "changed-line",
    "checkpoint-difference",
    "before-header",
    "duplicate-id",
    "missing-parent",
    "cycle",
    "lost-entries",
  ],
  pending: ["unfinished-line", "unfinished-record"],
  noted: [
    "byte-order-mark",
    "repeated-line",
    "second-header",
    "not-an-entry",
    "unknown-type",
    "dangling-reference",
    "diverged",
  ],
} as const;

/** `damage`: something is lost or changed. `pending`: perhaps unfinished. `noted`: no loss. */
export type FindingWeight = keyof typeof findingKinds;

/**
 * The kind. - Lines that are not records: `torn`, `not-json`, `not-object`, `nul-bytes`,
 * `too-long`.
 * - Records: `id-changed` (the line begins with another id), `invalid-utf8`, `changed-line`,
 * `checkpoint-difference`.
 * - The header: `damaged-header`, `before-header` (entries that are not read), `second-header`,
 * `byte-order-mark` (also before another line).
 * - The tree: `duplicate-id`, `repeated-line` (byte for byte), `missing-parent`, `cycle`.
 * - A store: `lost-entries` (that a session read, and the store lost since).
 * - Links: `dangling-reference`, `diverged` (an unintended branch).
 * - The end: `unfinished-line`, `unfinished-record` (only its newline is missing).
 * - `not-an-entry`, `unknown-type`: as in `session.diagnostics`.
 */
export type FindingKind = (typeof findingKinds)[FindingWeight][number];

export interface Finding {
  readonly kind: FindingKind;
  readonly weight: FindingWeight;
  /** Lines, entries, cycles or types. */
  readonly count: number;
}

export type FindingCounts = Readonly<Partial<Record<FindingKind, number>>>;

export function findingsOf(counts: FindingCounts): readonly Finding[] {
  const found: Finding[] = [];
  for (const weight of ["damage", "pending", "noted"] as const) {
    for (const kind of findingKinds[weight]) {
      const count = counts[kind] ?? 0;
      if (count > 0) found.push({ kind, weight, count });
    }
  }
  return found;
}

export function countOf(findings: readonly Finding[], kind: FindingKind): number {
  return findings.find((found) => found.kind === kind)?.count ?? 0;
}

export function isDamaged(findings: readonly Finding[]): boolean {
  return findings.some(({ weight }) => weight === "damage");
}

/**
 * Why a line is not a record. `torn`: the start of one. `too-long`: longer than a string can be.
 */
export type BadLineKind = Exclude<LineKind, "record" | "blank">;

export type LinePlace = Omit<EntryPlace, "id">;

export interface BadLine extends LinePlace {
  readonly reason: BadLineKind;
}

/** An entry by the start of its line, which is not that entry. */
export interface DamagedEntry extends EntryPlace {
  /** Why its line is not a record; `id-changed`: it is a record of another id. */
  readonly reason: BadLineKind | "id-changed";
}

/** An entry whose id an earlier one has, which it hides. */
export interface DuplicateId extends EntryPlace {
  /** Byte offset of the line of the entry that it hides. */
  readonly hiddenOffset: number;
  /** Whether both lines are equal, so that nothing is hidden. */
  readonly isSame: boolean;
}

/** An entry whose parent is not in the log. */
export interface Orphan extends EntryPlace {
  readonly missingParentId: string;
}

/** A cycle of parents, named by its first entry in the file. */
export interface ParentCycle extends EntryPlace {
  /** How many entries it consists of. */
  readonly size: number;
}

/** An unterminated end that is not damage. */
export interface PendingEnd {
  readonly offset: number;
  readonly length: number;
  /** `record`: only its newline is missing. `fragment`: torn, in a file that just changed. */
  readonly kind: "record" | "fragment";
}

/** `fragment`: it may still be being written. */
export type EndKind = LineKind | "fragment";

/** Only a torn record in a file that changed just now may become whole. */
export function endKind(rest: LineRest, source: ByteSource, mayGrow: boolean): EndKind {
  const { bytes, offset, length } = rest;
  const pieces = (): Iterable<Buffer> =>
    bytes === null ? readRange(source, offset, length) : [bytes];
  const decoded = bytes === null ? readShallow(pieces(), {}) : decodeLine(bytes);
  const kind = lineKind(decoded, pieces);
  return kind === "torn" && mayGrow ? "fragment" : kind;
}

export function endFinding(kind: EndKind): FindingKind | undefined {
  if (kind === "blank") return undefined;
  if (kind === "record") return "unfinished-record";
  return kind === "fragment" ? "unfinished-line" : kind;
}

/** Whether a process may still be writing to a file: if it changed just now, or in the future. */
export function mayBeWritten(stat: FileStat | null, clock: Clock): boolean {
  return stat !== null && clock.now() - stat.mtimeMs < writingMsMax;
}
