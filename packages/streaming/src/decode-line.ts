/**
 * Decodes one line into a JSON object, as the agents do: invalid UTF-8 becomes U+FFFD, a byte-order
 * mark and white space around the record are tolerated. A line that is not a record yields a
 * reason, never an exception.
 */
import { isCutOffObject, skipSpace } from "./object-scanner.ts";

/** Any JSON value. */
export type JsonValue = string | number | boolean | null | JsonValue[] | JsonObject;

/** A JSON object. A `__proto__` key is an ordinary own property of it. */
export type JsonObject = { [key: string]: JsonValue };

/** Why a line is not a record. */
export type BadLineReason = "blank" | "nul-bytes" | "not-json" | "not-object" | "too-long";

/** A record, or why the line is not one. */
export type DecodedLine =
  | {
      readonly ok: true;
      readonly value: JsonObject;
      readonly reason?: undefined;
      readonly message?: undefined;
    }
  | {
      readonly ok: false;
      readonly value?: undefined;
      readonly reason: BadLineReason;
      readonly message: string;
    };

/** The kind of a line. `torn`: it ends within a record, as after a failed write. */
export type LineKind = "record" | "torn" | BadLineReason;

/** Counts calls of `JSON.parse` in this process, the largest cost, for tests and tools. */
export const decodeCounter: { parses: number } = { parses: 0 };

/**
 * Decodes `bytes[start, end)`, a line with or without its "\n". Linear in the bytes.
 *
 * @example
 * const line = decodeLine(Buffer.from('{"type":"session"}'));
 * if (line.ok) console.log(line.value["type"]);
 */
export function decodeLine(
  bytes: Uint8Array,
  start: number = 0,
  end: number = bytes.length,
): DecodedLine {
  const buffer = Buffer.isBuffer(bytes)
    ? bytes
    : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const from = hasByteOrderMark(buffer, start, end) ? start + 3 : start;
  if (skipSpace(buffer, from, end) === end) return bad("blank", "the line is blank");
  let text: string;
  try {
    text = buffer.toString("utf8", from, end);
  } catch {
    // Decoding fails only if the text exceeds V8's longest string.
    return bad("too-long", `the line has ${end - start} bytes, more than one string can hold`);
  }
  return parse(text, buffer, from, end);
}

/**
 * The kind of a decoded line.
 * @param bytes Of the line; only called for lines that are not JSON.
 */
export function lineKind(decoded: DecodedLine, bytes: () => Iterable<Uint8Array>): LineKind {
  if (decoded.ok) return "record";
  return decoded.reason === "not-json" && isCutOffObject(bytes()) ? "torn" : decoded.reason;
}

function parse(text: string, bytes: Buffer, start: number, end: number): DecodedLine {
  let value: unknown;
  try {
    decodeCounter.parses++;
    value = JSON.parse(text);
  } catch (error) {
    if (bytes.subarray(start, end).includes(0)) return bad("nul-bytes", "the line has NUL bytes");
    return bad("not-json", error instanceof Error ? error.message : String(error));
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    return bad("not-object", `the line holds ${nameOf(value)}, not an object`);
  }
  // JSON.parse returns only JSON values.
  return { ok: true, value: value as JsonObject };
}

function bad(reason: BadLineReason, message: string): DecodedLine {
  return { ok: false, reason, message };
}

function nameOf(value: unknown): string {
  if (value === null) return "null";
  return Array.isArray(value) ? "an array" : `a ${typeof value}`;
}

/** Whether `bytes[start, end)` begins with a byte-order mark of UTF-8. */
export function hasByteOrderMark(
  bytes: Uint8Array,
  start: number = 0,
  end: number = bytes.length,
): boolean {
  return (
    end - start >= 3 &&
    bytes[start] === 0xef &&
    bytes[start + 1] === 0xbb &&
    bytes[start + 2] === 0xbf
  );
}
