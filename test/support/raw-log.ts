/**
 * What a log holds, read in the plainest way: split at newlines, parse each line. It shares no code
 * with the engine, so it can judge it.
 */

/** An entry as it is in the file. */
export interface RawEntry {
  readonly type: string;
  readonly id: string;
  readonly parentId: string | null;
  readonly [key: string]: unknown;
}

/** See the file comment. */
export interface RawLog {
  /** Entries of whole lines, in file order. */
  readonly entries: readonly RawEntry[];
  /** Whole lines that are not JSON objects, but for blank ones. */
  readonly debris: readonly string[];
  /** Byte offset of the line of each entry; of the last one, if an id repeats. */
  readonly offsets: ReadonlyMap<string, number>;
  /** What is after the last newline. */
  readonly rest: string;
}

/** Reads the bytes of a log of the current form. */
export function rawLog(bytes: Buffer): RawLog {
  const lines = bytes.toString().split("\n");
  const rest = lines.pop() ?? "";
  const entries: RawEntry[] = [];
  const debris: string[] = [];
  const offsets = new Map<string, number>();
  let offset = 0;
  for (const line of lines) {
    const value = objectOf(line);
    // Decoding boundary: tests look only at logs whose entries have these fields.
    const entry = value as RawEntry | undefined;
    // A writer that saw the end of an unfinished line puts its newline after the whole one.
    if (entry === undefined) debris.push(...(line === "" ? [] : [line]));
    else if (entry.type !== "session") {
      entries.push(entry);
      offsets.set(entry.id, offset);
    }
    offset += Buffer.byteLength(line) + 1;
  }
  return { entries, debris, offsets, rest };
}

/** Ids that are on more than one line. */
export function repeatedIds({ entries }: RawLog): string[] {
  const seen = new Set<string>();
  return entries.flatMap(({ id }) => (seen.has(id) ? [id] : (seen.add(id), [])));
}

/** Ids of entries whose parent is not in the log. */
export function orphanIds({ entries }: RawLog): string[] {
  const ids = new Set(entries.map(({ id }) => id));
  return entries.flatMap(({ id, parentId }) =>
    parentId === null || ids.has(parentId) ? [] : [id],
  );
}

function objectOf(line: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(line);
    // Decoding boundary: a JSON object.
    return typeof value === "object" && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : undefined;
  } catch {
    return undefined;
  }
}
