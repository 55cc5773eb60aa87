/** Which lines of a session are in a copy of it, and the reasons for the others. */
import { decodeLine, lines as linesOf } from "@branchlog/streaming";
import type { FileLine, JsonObject } from "@branchlog/streaming";
import type { Engine } from "@branchlog/core/engine";
import { objectAt, stringAt } from "@branchlog/core/rows";

export interface LineCounts {
  /**
   * Lines of the source, damaged and blank ones included; of a document or a database, entries that
   * are read in it.
   */
  readonly lines: number;
  /** Lines that are in the copy, as entries or parts of them. */
  readonly imported: number;
  /**
   * The other lines: by the reason why they are not records, as `other-branch` for entries that are
   * not on the path to the leaf, else by the type of their record.
   */
  readonly skipped: Readonly<Record<string, number>>;
}

/** Reads the source up to the end of the index. */
export async function lineCounts(
  { path, index, log, settings }: Engine,
  copied: readonly number[],
  signal: AbortSignal | undefined,
): Promise<LineCounts> {
  const taken = new Set(copied);
  if (log.stored !== undefined) {
    const [entries, left] = [index.count, index.count - taken.size];
    const others = left === 0 ? {} : { "other-branch": left };
    return { lines: entries, imported: taken.size, skipped: others };
  }
  const skipped = new Map<string, number>();
  let [lines, imported, row] = [0, 0, 0];
  const { lineBytesMax } = settings;
  for await (const line of linesOf(path, { to: log.size, lineBytesMax, signal })) {
    lines += 1;
    const first = row;
    while (row < index.count && index.rows.offset(row) < line.offset + line.length) row += 1;
    const own = Array.from({ length: row - first }, (_, at) => first + at);
    if (own.some((one) => taken.has(one))) {
      imported += 1;
      continue;
    }
    const reason = own.length > 0 ? "other-branch" : reasonOf(line);
    skipped.set(reason, (skipped.get(reason) ?? 0) + 1);
  }
  const sorted = [...skipped].toSorted(([a], [b]) => (a < b ? -1 : 1));
  return { lines, imported, skipped: Object.fromEntries(sorted) };
}

function reasonOf({ bytes, terminated }: FileLine): string {
  if (bytes === null) return "too-long";
  const record = decodeLine(bytes, 0, bytes.length);
  if (record.ok) return typeOf(record.value);
  return terminated || record.reason === "blank" ? record.reason : "torn";
}

/** Types of agents are short words; other values are not repeated. */
const word = /^[\w.-]{1,60}$/;

function typeOf(record: JsonObject): string {
  const types = [
    stringAt(record, "type"),
    stringAt(record, "subtype") ?? stringAt(objectAt(record, "payload"), "type"),
  ];
  const known = types.filter((type) => type !== undefined && word.test(type));
  return known.length === 0 ? "unknown-record" : known.join("/");
}
