/** What the scan found in lines, as values; null where it did not trust the line. */
import { scanFlags, scanLines, scanLongLine } from "@branchlog/streaming";
import type { LongLine, ScannedRows } from "@branchlog/streaming";
import { frame } from "./collected-lines.ts";

/** The values of an envelope. */
export interface Envelope {
  readonly type: string;
  readonly id: string;
  readonly parentId: string | null;
  readonly timestamp: string;
  readonly role: string | undefined;
  readonly customType: string | undefined;
  readonly form: "head" | "tail";
  readonly endsWithObject: boolean;
  readonly hasPayload: boolean;
  /** Whether the whole line is known to be JSON. */
  readonly isFlat: boolean;
}

/** The lines `bytes[start, end)`, which are separated by newlines. */
export function readEnvelopes(
  bytes: Buffer,
  start: number = 0,
  end: number = bytes.length,
): (Envelope | null)[] {
  const found: (Envelope | null)[] = [];
  scanLines(bytes, start, end, (rows) => {
    for (let row = 0; row < rows.count; row += 1) found.push(envelopeOf(rows, row));
  });
  return found;
}

/** The same of one line. */
export function readEnvelope(bytes: Buffer): Envelope | null {
  const [found, more] = readEnvelopes(bytes);
  if (found === undefined || more !== undefined) throw new Error("not one line");
  return found;
}

/** Reads a line as if it were too long to be joined. */
export function readLongEnvelope(line: Buffer): Envelope | null {
  let found: Envelope | null = null;
  scanLongLine(measured(line), (rows) => {
    found = envelopeOf(rows, 0);
  });
  return found;
}

/** What the framer says of a line that is too long. */
function measured(line: Buffer): LongLine {
  const long = frame([line, Buffer.from("\n")], 0).lines[0]?.long;
  if (!long) throw new Error("the line is empty");
  return long;
}

/** The envelope of a row; null if its line is not trusted. */
export function envelopeOf(rows: ScannedRows, row: number): Envelope | null {
  const flags = rows.flags[row] ?? 0;
  const is = (flag: keyof typeof scanFlags): boolean => (flags & scanFlags[flag]) !== 0;
  const kind = rows.kinds[rows.kind[row] ?? -1];
  if (!is("trusted")) return null;
  if (kind === undefined) throw new Error("a row without a kind");
  const text = (starts: Uint32Array, ends: Uint32Array): string =>
    rows.bytes.toString("latin1", starts[row], ends[row]);
  const hex = (words: Uint32Array): string => (words[row] ?? 0).toString(16).padStart(8, "0");
  const parent = is("words") ? hex(rows.parent) : text(rows.parentStart, rows.parentEnd);
  return {
    ...kind,
    id: is("words") ? hex(rows.id) : text(rows.idStart, rows.idEnd),
    parentId: is("root") ? null : parent,
    timestamp: is("exactTime")
      ? new Date(rows.time[row] ?? 0).toISOString()
      : text(rows.timeStart, rows.timeEnd),
    form: is("tailForm") ? "tail" : "head",
    endsWithObject: is("endsWithObject"),
    hasPayload: is("hasPayload"),
    isFlat: is("flat"),
  };
}
