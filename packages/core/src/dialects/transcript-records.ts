/**
 * The records of a line of a transcript. A torn write, or NUL bytes in place of a newline, can
 * leave a line with whole records next to debris; these are recovered. Pure.
 */
import { decodeLine } from "@branchlog/streaming";
import type { JsonObject } from "@branchlog/streaming";
import { formatOf, transcriptFormats } from "./agent.ts";

/** Its bytes are `[start, end)`. */
export interface TranscriptRecord {
  readonly value: JsonObject;
  readonly start: number;
  readonly end: number;
  /** Further records of the same line count in tenths. */
  readonly line: number;
}

/** A line that needs more attempts holds no records. */
const triesMax = 32;
const recordsMax = 10;

const [quote, backslash, open, close] = [0x22, 0x5c, 0x7b, 0x7d];

/** Linear in the bytes, apart from 32 attempts. */
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

export function* recordsBesideDebris(
  bytes: Buffer,
  start: number,
  end: number,
  lineNumber: number,
): Generator<TranscriptRecord> {
  const openings = transcriptFormats().flatMap(({ firstKeys }) => firstKeys.map(openingOf));
  const nextOpening = (from: number): number => {
    // After the line, the search of each bad line would continue to the end of the chunk.
    const line = bytes.subarray(from, end);
    const places = openings.map((opening) => line.indexOf(opening)).filter((at) => at >= 0);
    return Math.min(end, from + Math.min(...places, line.length));
  };
  let [at, found] = [nextOpening(start), 0];
  for (let tries = 0; at < end && tries < triesMax && found < recordsMax; tries += 1) {
    const recordEnd = endOfObject(bytes, at, end);
    const record = recordEnd === undefined ? undefined : decodeLine(bytes, at, recordEnd);
    if (record?.ok === true && recordEnd !== undefined && formatOf(record.value) !== undefined) {
      yield { value: record.value, start: at, end: recordEnd, line: lineNumber + found / 10 };
      found += 1;
      at = nextOpening(recordEnd);
    } else {
      at = nextOpening(at + 1);
    }
  }
}

function openingOf(key: string): string {
  return `{"${key}":`;
}

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
