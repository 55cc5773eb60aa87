/** Converts the lines of a log in order, for conversions and linear exports. */
import { decodeLine } from "@branchlog/streaming";
import type { JsonObject } from "@branchlog/streaming";
import type { SessionHeader } from "@branchlog/core";
import type { DialectName } from "@branchlog/core/entries";
import { dialectMarkers, rowFlags } from "@branchlog/core/rows";
import type { Engine } from "@branchlog/core/engine";
import type { IndexTable } from "@branchlog/core/rows";
import {
  convertLine,
  convertibleTypes,
  dialectOfConverted,
  nameIn,
  replayedThrough,
} from "./convert-entry.ts";
import type { ConversionTarget } from "./convert-entry.ts";

/** Complete once all bytes were read. */
export interface ConversionCounts {
  readonly converted: Record<string, number>;
  addedName: boolean;
  /** Resets of omp that stay, unknown to pi. */
  resets: number;
}

export class LineConverter {
  readonly counts: ConversionCounts = { converted: {}, addedName: false, resets: 0 };
  readonly #to: ConversionTarget;
  #name: string | undefined;

  constructor(to: ConversionTarget) {
    this.#to = to;
  }

  /** @param keptEntry The id of the first entry kept after a replayed one. */
  convert(line: Buffer, keptEntry: (replayed: string) => string | undefined): Buffer {
    const decoded = decodeLine(line);
    if (!decoded.ok) return line;
    const { value } = decoded;
    const replayed = replayedThrough(value);
    const keptFrom = replayed === undefined ? undefined : keptEntry(replayed);
    const own = convertLine(line, value, this.#to, { nameBefore: this.#name, keptFrom });
    this.#name = nameIn(value) ?? this.#name;
    const { type } = value;
    const { converted } = this.counts;
    if (own !== line && typeof type === "string") converted[type] = (converted[type] ?? 0) + 1;
    return own;
  }
}

/** Whether the line of a row may differ in another dialect, and fits in memory. */
export function isConvertible({ index, bodies }: Engine, row: number): boolean {
  return convertibleTypes.has(index.kindOf(row).type) && bodies.isBuildable(row);
}

/** Of the first converted row that only one of the agents writes. */
export async function dialectOfRows(
  { index, bodies }: Engine,
  rows: Iterable<number>,
  to: ConversionTarget,
): Promise<DialectName | undefined> {
  for (const row of rows) {
    if (!telling.has(index.kindOf(row).type) || !bodies.isBuildable(row)) continue;
    const entry = await bodies.entry(row);
    if (entry === undefined) continue;
    // Decoding boundary: an entry is a JSON object.
    const told = dialectOfConverted(entry as unknown as JsonObject, to);
    if (told !== undefined) return told;
  }
  return undefined;
}

const telling: ReadonlySet<string> = new Set(dialectMarkers);

/** The slot's time, else the header's. */
export function nameTime(
  slot: { readonly updatedAt: string } | undefined,
  header: SessionHeader | undefined,
): string {
  // Decoding boundary: of a header only type and id were checked.
  const time: unknown = slot?.updatedAt ?? header?.timestamp;
  return typeof time === "string" ? time : new Date(0).toISOString();
}

/** The row after the last replayed one, or -1; `above` returns the rows above the compaction. */
export function firstKeptRow(index: IndexTable, above: () => number, replayed: string): number {
  const last = index.rowOfId(replayed);
  if (last < 0) return -1;
  let kept = -1;
  for (let row = above(); row >= 0; row = above()) {
    if (index.rows.is(row, rowFlags.damaged)) continue;
    if (row === last) return kept;
    kept = row;
  }
  return -1;
}

/**
 * Finds the id of the first entry that a compaction keeps; undefined within a cycle, where the
 * order depends on the start. O(distance to the replayed entry), and once O(entries).
 */
export function keptEntryFinder({
  index,
  bodies,
}: Engine): (row: number, replayed: string) => string | undefined {
  const rooted = new RootedRows(index);
  return (row, replayed) => {
    for (;;) {
      const { structureVersion } = index;
      if (!rooted.has(row)) return undefined;
      let at = row;
      const kept = firstKeptRow(index, () => (at = rowAbove(index, at)), replayed);
      const last = index.rowOfId(replayed);
      // A row that was indexed without a parse may be damaged, and then is on no path.
      bodies.confirmAllSync([last, kept].filter((one) => one >= 0));
      if (index.structureVersion === structureVersion)
        return kept < 0 ? undefined : index.idOf(kept);
    }
  };
}

/** Rows whose ancestors end at a root or a gap. Each is visited once, until rows change. */
class RootedRows {
  readonly #index: IndexTable;
  #known: Uint8Array = new Uint8Array(0);
  #structureVersion = -1;

  constructor(index: IndexTable) {
    this.#index = index;
  }

  has(row: number): boolean {
    const { count, structureVersion } = this.#index;
    if (this.#structureVersion !== structureVersion) this.#known = new Uint8Array(count);
    this.#structureVersion = structureVersion;
    const known = this.#known;
    const passed: number[] = [];
    let at = row;
    for (; at >= 0 && known[at] !== 1; at = rowAbove(this.#index, at)) {
      if (passed.push(at) > count) return false;
    }
    for (const one of passed) known[one] = 1;
    return true;
  }
}

function rowAbove(index: IndexTable, row: number): number {
  const parent = index.rows.parentHandle(row);
  return parent < 0 ? -1 : index.rowOfHandle(parent);
}
