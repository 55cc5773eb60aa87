/**
 * Brings the lines of a log, one by one and in their order, into the dialect of another agent, and
 * counts what changes: what a conversion and a linear export have in common.
 */
import { decodeLine } from "@branchlog/streaming";
import type { JsonObject } from "@branchlog/streaming";
import type { SessionHeader } from "@branchlog/core";
import type { DialectName } from "@branchlog/core/entries";
import { dialectMarkers } from "@branchlog/core/internal";
import type { Engine } from "@branchlog/core/internal";
import {
  convertLine,
  convertibleTypes,
  dialectOfConverted,
  nameIn,
  replayedThrough,
} from "./convert-entry.ts";
import type { ConversionTarget } from "./convert-entry.ts";

/** What a copy in another dialect changed, complete once all its bytes were taken. */
export interface ConversionCounts {
  /** By the type in the source. */
  readonly converted: Record<string, number>;
  addedName: boolean;
  /** Resets of omp that stay as they are in a log for pi, which does not know them. */
  resets: number;
}

/** See the file comment. */
export class LineConverter {
  readonly counts: ConversionCounts = { converted: {}, addedName: false, resets: 0 };
  readonly #to: ConversionTarget;
  /** What the copy is called so far. */
  #name: string | undefined;

  constructor(to: ConversionTarget) {
    this.#to = to;
  }

  /**
   * The line in the dialect of the target; the same buffer if nothing changes.
   * @param keptEntry The id of the first entry that a compaction keeps that names only the last
   * entry that a provider replays.
   */
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

/** Whether the line of a row may differ in another dialect, and can be held to be converted. */
export function isConvertible({ index, bodies }: Engine, row: number): boolean {
  return convertibleTypes.has(index.kindOf(row).type) && bodies.isBuildable(row);
}

/** The dialect of the first row that only one of the agents writes, once it is converted. */
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

/** When a session got its name: the slot tells, else the header has had it from the beginning. */
export function nameTime(
  slot: { readonly updatedAt: string } | undefined,
  header: SessionHeader | undefined,
): string {
  // Decoding boundary: of a header only type and id were checked.
  const time: unknown = slot?.updatedAt ?? header?.timestamp;
  return typeof time === "string" ? time : new Date(0).toISOString();
}
