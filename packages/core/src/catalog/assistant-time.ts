/**
 * Reads when an assistant spoke from the end of its line, without parsing the message. Only lines
 * in pi's key order are answered: content right after the role, and stopReason and timestamp as the
 * last keys of the message, which is the last of the record. Everything else is to be parsed. As
 * with envelopes, keys that a record has twice are not defended against.
 */
import type { EnvelopeReader } from "@branchlog/streaming";

const assistantText = Buffer.from("assistant");
const contentText = Buffer.from('","content":[');
const timestampText = Buffer.from(',"timestamp":');
const stopReasonText = Buffer.from('"stopReason":"');

const quote = 0x22;
const zero = 0x30;
const carriageReturn = 0x0d;
/** More digits might not be exact as a number. */
const digitsMax = 15;

/**
 * The message timestamp, in epoch ms, of the line `bytes[start, end)` that `envelope` was just read
 * from; NaN if the line is not an assistant message of this form.
 */
export function assistantTimeMs(envelope: EnvelopeReader, bytes: Buffer, end: number): number {
  const { form, roleStart, roleEnd, endsWithObject } = envelope;
  if (form !== "head" || !endsWithObject) return Number.NaN;
  if (roleEnd - roleStart !== assistantText.length) return Number.NaN;
  if (!isTextAt(bytes, roleStart, assistantText)) return Number.NaN;
  if (!isTextAt(bytes, roleEnd, contentText)) return Number.NaN;
  const last = bytes[end - 1] === carriageReturn ? end - 3 : end - 2;
  let first = last;
  while (isDigit(bytes[first - 1])) first -= 1;
  const hasNumber = first < last && last - first <= digitsMax && bytes[first] !== zero;
  const keyStart = first - timestampText.length;
  if (!hasNumber || !isTextAt(bytes, keyStart, timestampText)) return Number.NaN;
  return isStopReasonBefore(bytes, keyStart) ? numberIn(bytes, first, last) : Number.NaN;
}

function isStopReasonBefore(bytes: Buffer, end: number): boolean {
  if (bytes[end - 1] !== quote) return false;
  let first = end - 1;
  while (isLetter(bytes[first - 1])) first -= 1;
  return isTextAt(bytes, first - stopReasonText.length, stopReasonText);
}

function isTextAt(bytes: Buffer, at: number, text: Buffer): boolean {
  for (let i = 0; i < text.length; i += 1) if (bytes[at + i] !== text[i]) return false;
  return true;
}

function isDigit(byte: number | undefined): boolean {
  return byte !== undefined && byte >= zero && byte <= zero + 9;
}

function isLetter(byte: number | undefined): boolean {
  return byte !== undefined && byte >= 0x41 && byte <= 0x7a && (byte >= 0x61 || byte <= 0x5a);
}

function numberIn(bytes: Buffer, start: number, end: number): number {
  let value = 0;
  for (let i = start; i < end; i += 1) value = value * 10 + ((bytes[i] ?? zero) - zero);
  return value;
}
