/** The plan of a repair as plain data: every byte of the log in one step, in order. */
import type { LogFingerprint } from "@branchlog/core/files";
import type { FileStat } from "@branchlog/core/types";
import { readRangeAsync } from "@branchlog/streaming";
import type { ByteSource } from "@branchlog/streaming";
import type { SessionHeader } from "@branchlog/core";
import { encodeDraft, encodeHeader, spliceDraft } from "@branchlog/core/rows";
import { copyBytes } from "../limits.ts";
import type { Finding, PendingEnd } from "../verify/finding.ts";

/**
 * Why bytes are not a record: `torn` is the start of a record, `nul-bytes` contains NULs,
 * `not-object` is other JSON, `not-json` anything else. Agents cannot read a line with a
 * `byte-order-mark`. `repeated`: the same record is on a line of its own.
 */
export type SetAsideReason =
  | "torn"
  | "nul-bytes"
  | "not-json"
  | "not-object"
  | "byte-order-mark"
  | "repeated";

/** Where a header field was found. `new`: generated. `unknown`: left empty. */
export type HeaderSource =
  | "damaged header"
  | "later header"
  | "file name"
  | "first entry"
  | "entries"
  | "option"
  | "new"
  | "unknown";

interface ByteRange {
  readonly offset: number;
  readonly length: number;
}

export interface KeepStep extends ByteRange {
  readonly kind: "keep";
}

/** A complete record from a damaged line; it is moved unchanged to its own line. */
export interface RecoverStep extends ByteRange {
  readonly kind: "recover";
  readonly line: number;
  /** Of the entry, or the session if the record is a header; null if it has none. */
  readonly id: string | null;
  readonly addsNewline: boolean;
}

/** A newline is added after the last line, which lacks it. */
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
  /** The entry that the bytes were; null if unknown. */
  readonly id: string | null;
}

/** A header is added before `offset`, since the log has no readable one in front. */
export interface HeaderStep {
  readonly kind: "header";
  readonly offset: number;
  readonly header: SessionHeader;
  readonly sources: Readonly<Record<string, HeaderSource>>;
}

/** A `custom` entry `branchlog.lost` that replaces a lost parent. */
export interface StandInStep {
  readonly kind: "stand-in";
  readonly offset: number;
  readonly id: string;
  readonly parentId: string | null;
  readonly timestamp: string;
  /** The parent is named by the `damaged` record, or guessed from the `order` of the file. */
  readonly source: "damaged" | "order";
}

export type RepairStep =
  | KeepStep
  | RecoverStep
  | TerminateStep
  | SetAsideStep
  | HeaderStep
  | StandInStep;

export type RepairChange = Exclude<RepairStep, KeepStep>;

/** An entry whose parent is not in the log. */
export interface OrphanedEntry {
  readonly id: string;
  readonly missingParentId: string;
}

/** Damage that a repair keeps, because it would have to invent data. */
export interface RemainingDamage {
  /** Entries that hide another one; one that is the same line again is not counted. */
  readonly duplicateIdCount: number;
  readonly duplicateIds: readonly string[];
  /** Entries whose parent is not in the log: their context begins with them. */
  readonly orphanCount: number;
  readonly orphans: readonly OrphanedEntry[];
  readonly cycleCount: number;
  readonly cycles: readonly string[];
  /** Damage to complete records, which are not changed. */
  readonly others: readonly Finding[];
}

/** How a log can be repaired. Made by `planRepair`, carried out by `applyRepair`. */
export interface RepairPlan {
  readonly path: string;
  readonly sizeBytes: number;
  /** The version of the header, or of the lost one. */
  readonly version: number;
  /** In the order of the file. Their ranges cover it without gaps. */
  readonly steps: readonly RepairStep[];
  /** The steps that change something; some do so in a log without damage, too. */
  readonly changes: readonly RepairChange[];
  readonly repaired: { readonly sizeBytes: number; readonly entries: number };
  readonly findings: readonly Finding[];
  /** The end of the log, if a process may still be writing it; it is not changed. */
  readonly pending: PendingEnd | null;
  readonly remaining: RemainingDamage;
  readonly source: { readonly stat: FileStat; readonly fingerprint: LogFingerprint };
}

export function isSound(remaining: RemainingDamage): boolean {
  const { duplicateIdCount, orphanCount, cycleCount, others } = remaining;
  return duplicateIdCount + orphanCount + cycleCount + others.length === 0;
}

const newline = Buffer.from("\n");
const nothing = Buffer.alloc(0);
const standInType = "branchlog.lost";

export function withoutRepetitions(
  steps: readonly RepairStep[],
  repeated: ReadonlySet<number>,
): readonly RepairStep[] {
  if (repeated.size === 0) return steps;
  return steps.map((step, i) => {
    if (step.kind !== "recover" || !repeated.has(i)) return step;
    const { offset, length, line, id } = step;
    return { kind: "set-aside", offset, length, line, reason: "repeated", id };
  });
}

/** `additions` are in the order of their offsets. */
export function withAdditions(
  steps: readonly RepairStep[],
  additions: readonly (HeaderStep | StandInStep)[],
): readonly RepairStep[] {
  if (additions.length === 0) return steps;
  const result: RepairStep[] = [];
  let next = 0;
  for (const step of steps) {
    let rest: RepairStep = step;
    for (let add = additions[next]; add !== undefined; add = additions[next]) {
      const inside = add.offset - rest.offset;
      if (inside > 0) {
        if (rest.kind !== "keep" || inside >= rest.length) break;
        const [before, behind] = split(rest, inside);
        result.push(before);
        rest = behind;
      }
      result.push(add);
      next += 1;
    }
    result.push(rest);
  }
  return result;
}

function split({ kind, offset, length }: KeepStep, at: number): readonly [KeepStep, KeepStep] {
  return [
    { kind, offset, length: at },
    { kind, offset: offset + at, length: length - at },
  ];
}

export function repairedBytes(steps: readonly RepairStep[]): number {
  let bytes = 0;
  for (const step of steps) bytes += (isCopied(step) ? step.length : 0) + addedBytes(step).length;
  return bytes;
}

/** In large chunks. Throws what reading throws. */
export async function* repairedChunks(
  steps: readonly RepairStep[],
  source: ByteSource,
): AsyncGenerator<Buffer, void, undefined> {
  let gathered: Buffer[] = [];
  let bytes = 0;
  for (const step of steps) {
    for await (const piece of piecesOf(step, source)) {
      gathered.push(piece);
      bytes += piece.length;
      if (bytes < copyBytes) continue;
      yield Buffer.concat(gathered);
      gathered = [];
      bytes = 0;
    }
  }
  if (bytes > 0) yield Buffer.concat(gathered);
}

async function* piecesOf(step: RepairStep, source: ByteSource): AsyncGenerator<Buffer> {
  if (isCopied(step)) yield* readRangeAsync(source, step.offset, step.length, copyBytes);
  yield addedBytes(step);
}

function isCopied(step: RepairStep): step is KeepStep | RecoverStep {
  return step.kind === "keep" || step.kind === "recover";
}

export function addedBytes(step: RepairStep): Buffer {
  switch (step.kind) {
    case "keep":
    case "set-aside":
      return nothing;
    case "recover":
      return step.addsNewline ? newline : nothing;
    case "terminate":
      return newline;
    case "header":
      return encodeHeader(step.header);
    case "stand-in": {
      const { id, parentId, timestamp, source } = step;
      const draft = { type: "custom", customType: standInType, data: { parentFrom: source } };
      return spliceDraft(encodeDraft(draft, timestamp), id, parentId);
    }
  }
}
