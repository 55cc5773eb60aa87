/**
 * What a log holds, read in the plainest way: split at newlines, parse each line. It shares no code
 * with the engine, so it can judge it.
 */

/** An entry as it stands in the file. */
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
  /** Whole lines that are no JSON object. */
  readonly debris: readonly string[];
  /** What stands behind the last newline. */
  readonly rest: string;
}

/** Reads the bytes of a log of the current form. */
export function rawLog(bytes: Buffer): RawLog {
  const lines = bytes.toString().split("\n");
  const rest = lines.pop() ?? "";
  const entries: RawEntry[] = [];
  const debris: string[] = [];
  for (const line of lines) {
    const value = objectOf(line);
    if (value === undefined) debris.push(line);
    // Decoding boundary: tests look only at logs whose entries have these fields.
    else if (value["type"] !== "session") entries.push(value as RawEntry);
  }
  return { entries, debris, rest };
}

/** Ids that stand on more than one line. */
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
