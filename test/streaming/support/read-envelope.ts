/** What the envelope reader found in a line, as values; null if it did not trust the line. */
import { EnvelopeReader, type LongLine } from "@branchlog/streaming";
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
}

/** Reads `bytes[start, end)` as a line. */
export function readEnvelope(
  bytes: Buffer,
  start: number = 0,
  end: number = bytes.length,
  reader: EnvelopeReader = new EnvelopeReader(),
): Envelope | null {
  return reader.read(bytes, start, end) ? envelopeOf(reader) : null;
}

/** Reads a line as if it were too long to be joined. */
export function readLongEnvelope(line: Buffer): Envelope | null {
  const reader = new EnvelopeReader();
  return reader.readLong(measured(line)) ? envelopeOf(reader) : null;
}

/** What the framer says of a line that is too long. */
function measured(line: Buffer): LongLine {
  const long = frame([line, Buffer.from("\n")], 0).lines[0]?.long;
  if (!long) throw new Error("the line is empty");
  return long;
}

function envelopeOf(reader: EnvelopeReader): Envelope {
  const { headBytes, coreBytes } = reader;
  const head = (start: number, end: number) =>
    start === -1 ? undefined : headBytes.toString("latin1", start, end);
  const core = (start: number, end: number) => coreBytes.toString("latin1", start, end);
  return {
    type: headBytes.toString("latin1", reader.typeStart, reader.typeEnd),
    id: core(reader.idStart, reader.idEnd),
    parentId: reader.parentStart === -1 ? null : core(reader.parentStart, reader.parentEnd),
    timestamp: core(reader.timestampStart, reader.timestampEnd),
    role: head(reader.roleStart, reader.roleEnd),
    customType: head(reader.customTypeStart, reader.customTypeEnd),
    form: reader.form,
    endsWithObject: reader.endsWithObject,
    hasPayload: reader.hasPayload,
  };
}
