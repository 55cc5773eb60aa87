/**
 * The records of a line of a transcript. As a rule that is the line; where a write was torn, or a
 * run of NUL bytes took the place of a line's end, the line holds whole records beside debris, and
 * none of them is hidden by it. Pure.
 */
import { decodeLine } from "@branchlog/streaming";
import type { JsonObject } from "@branchlog/streaming";
import { kindOf } from "./foreign-record.ts";

/** A record, and its bytes: `[start, end)`. */
export interface TranscriptRecord {
  readonly value: JsonObject;
  readonly start: number;
  readonly end: number;
  /** The number of its line; those behind the first record of a line count in tenths. */
  readonly line: number;
}

/** What is tried of one line: beyond that, it holds anything but records. */
const triesMax = 32;
const recordsMax = 10;

const [quote, backslash, open, close] = [0x22, 0x5c, 0x7b, 0x7d];

/** The records of `bytes[start, end)`, one line. Linear in its bytes, but for 32 tries. */
export function* transcriptRecords(
  bytes: Buffer,
  start: number,
  end: number,
  lineNumber: number,
): Generator<TranscriptRecord> {
  const whole = decodeLine(bytes, start, end);
  if (whole.ok) yield { value: whole.value, start, end, line: lineNumber };
  else if (whole.reason !== "blank") yield* recordsBesideDebris(bytes, start, end, lineNumber);
}

/** The records in a line that is not one. */
export function* recordsBesideDebris(
  bytes: Buffer,
  start: number,
  end: number,
  lineNumber: number,
): Generator<TranscriptRecord> {
  let [at, found] = [nextOpening(bytes, start, end), 0];
  for (let tries = 0; at < end && tries < triesMax && found < recordsMax; tries += 1) {
    const recordEnd = endOfObject(bytes, at, end);
    const record = recordEnd === undefined ? undefined : decodeLine(bytes, at, recordEnd);
    if (record?.ok === true && recordEnd !== undefined && kindOf(record.value) !== undefined) {
      yield { value: record.value, start: at, end: recordEnd, line: lineNumber + found / 10 };
      found += 1;
      at = nextOpening(bytes, recordEnd, end);
    } else {
      at = nextOpening(bytes, at + 1, end);
    }
  }
}

/** How the records of both agents begin. */
const openings = ["parentUuid", "timestamp", "type", "uuid", "sessionId"].map(
  (key) => `{"${key}":`,
);

function nextOpening(bytes: Buffer, from: number, end: number): number {
  // Behind the line, the search of each bad line would go on to the end of the chunk.
  const line = bytes.subarray(from, end);
  const places = openings.map((opening) => line.indexOf(opening)).filter((at) => at >= 0);
  return Math.min(end, from + Math.min(...places, line.length));
}

/** Behind the brace that closes the object at a place; undefined if none does. */
function endOfObject(bytes: Buffer, start: number, end: number): number | undefined {
  let [depth, isText] = [0, false];
  for (let at = start; at < end; at += 1) {
    const byte = bytes[at];
    if (isText) {
      if (byte === backslash) at += 1;
      else if (byte === quote) isText = false;
    } else if (byte === quote) isText = true;
    else if (byte === open) depth += 1;
    else if (byte === close) {
      depth -= 1;
      if (depth === 0) return at + 1;
    }
  }
  return undefined;
}
