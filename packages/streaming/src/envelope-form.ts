/**
 * The two byte forms of a session record whose envelope can be read in place. Head form: type, id,
 * parentId, timestamp open the line. Tail form: the payload comes first and id, parentId close the
 * line (custom records, and v1 lines that were migrated). Pure; conditions on the whole line, such
 * as counts of keys, are checked by the caller.
 */
import { closingQuote, FixedText, isByteAt, openingQuote } from "./byte-match.ts";

/** Byte ranges of the values of an envelope. Ends are exclusive; quotes are outside. */
export interface EnvelopeSpans {
  /** null: the line does not open with a type. */
  kind: RecordKind | null;
  typeStart: number;
  typeEnd: number;
  customTypeStart: number;
  customTypeEnd: number;
  roleStart: number;
  roleEnd: number;
  /** Index of the role among the usual ones; otherwise -1. */
  usualRole: number;
  idStart: number;
  idEnd: number;
  parentStart: number;
  parentEnd: number;
  timestampStart: number;
  timestampEnd: number;
}

/** The types that matter for the form: only these three have keys of their own in the envelope. */
export type RecordKind = "custom" | "custom_message" | "message" | "other";

/** The key that opens the payload of a tail form; "none": there is no payload. */
export type PayloadKey = "data" | "content" | "message" | "none";

const comma = 0x2c;
const quote = 0x22;
const closingBrace = 0x7d;

const typeText = new FixedText('{"type":"');
const messageOpening = new FixedText('{"type":"message","id":"');
const idText = new FixedText(',"id":"');
const parentIdText = new FixedText(',"parentId":');
const nullText = new FixedText("null");
const timestampText = new FixedText(',"timestamp":"');
const customTypeText = new FixedText(',"customType":"');
const roleText = new FixedText(',"message":{"role":"');
const dataText = new FixedText(',"data":');
const contentText = new FixedText(',"content":');
const idKey = new FixedText(',"id":');
const timestampKey = new FixedText(',"timestamp":');
const messageType = new FixedText("message");
const customType = new FixedText("custom");
const customMessageType = new FixedText("custom_message");

/** Keys of the tail form whose value may be a string directly before the id. */
const trailingStringKeys = ['"data":', '"content":', '"details":', '"attribution":'].map(
  (key) => new FixedText(key),
);

/**
 * Reads the type that opens the record, and sets `kind`. Returns the start of the id's value if the
 * head form continues with it, otherwise -1.
 */
export function readOpening(
  spans: EnvelopeSpans,
  bytes: DataView,
  start: number,
  end: number,
): number {
  const typeStart = start + typeText.length;
  const messageIdStart = messageOpening.after(bytes, start, end);
  if (messageIdStart !== -1) {
    // Most lines are messages, so their type and next key are compared at once.
    spans.kind = "message";
    spans.typeStart = typeStart;
    spans.typeEnd = typeStart + messageType.length;
    return messageIdStart;
  }
  const isOpen = typeText.after(bytes, start, end) !== -1;
  const typeEnd = isOpen ? closingQuote(bytes, typeStart, end) : -1;
  spans.kind = typeEnd === -1 ? null : kindOf(bytes, typeStart, typeEnd);
  spans.typeStart = typeStart;
  spans.typeEnd = typeEnd;
  return typeEnd === -1 ? -1 : idText.after(bytes, typeEnd + 1, end);
}

/**
 * Reads `…","parentId":…,"timestamp":…` from the value of the id on, and the role or customType
 * that follows. `end` is where the record ends, or -1 if only its beginning is in `bytes`.
 */
export function readHead(
  spans: EnvelopeSpans,
  bytes: DataView,
  idStart: number,
  end: number,
): boolean {
  const limit = end === -1 ? bytes.byteLength : end;
  const idEnd = closingQuote(bytes, idStart, limit);
  if (idEnd === -1) return false;
  spans.idStart = idStart;
  spans.idEnd = idEnd;
  const parentEnd = readParent(spans, bytes, idEnd + 1, limit);
  if (parentEnd === -1) return false;
  const timestampEnd = readTimestamp(spans, bytes, parentEnd, limit);
  if (timestampEnd === -1) return false;
  const next = readKindKey(spans, bytes, timestampEnd, limit);
  if (next === -1) return false;
  if (isByteAt(bytes, next, closingBrace)) return spans.kind === "message" || next + 1 === end;
  return isByteAt(bytes, next, comma);
}

/**
 * Reads the tail form of the record that ends at `end`. `head` holds its beginning and `tail` the
 * same, followed by its end; they are one view unless the record is too long. Returns the key that
 * opens the payload, or null if the record does not have this form.
 */
export function readTail(
  spans: EnvelopeSpans,
  head: DataView,
  tail: DataView,
  end: number,
): PayloadKey | null {
  const { kind } = spans;
  const isCustom = kind === "custom" || kind === "custom_message";
  const limit = head === tail ? end : head.byteLength;
  const typeEnd = spans.typeEnd + 1;
  const opened = isCustom ? typeEnd : readTimestamp(spans, head, typeEnd, limit);
  const next = opened === -1 ? -1 : readKindKey(spans, head, opened, limit);
  if (next === -1) return null;
  const floor = head === tail ? next : head.byteLength;
  const tailStart = readTailBackward(spans, isCustom, tail, floor, end);
  if (tailStart === -1) return null;
  if (kind === "message") return isByteAt(tail, tailStart - 1, closingBrace) ? "message" : null;
  if (head === tail && tailStart === next) return "none";
  if (!isCustom || !isTrailingValue(tail, floor, tailStart)) return null;
  if (kind === "custom") return dataText.after(head, next, limit) === -1 ? null : "data";
  return contentText.after(head, next, limit) === -1 ? null : "content";
}

/** The kind of the type `bytes[start, end)`. */
function kindOf(bytes: DataView, start: number, end: number): RecordKind {
  if (messageType.equals(bytes, start, end)) return "message";
  if (customType.equals(bytes, start, end)) return "custom";
  if (customMessageType.equals(bytes, start, end)) return "custom_message";
  return "other";
}

function readParent(spans: EnvelopeSpans, bytes: DataView, at: number, end: number): number {
  const start = parentIdText.after(bytes, at, end);
  if (start === -1) return -1;
  if (!isByteAt(bytes, start, quote)) {
    spans.parentStart = -1;
    spans.parentEnd = -1;
    return nullText.after(bytes, start, end);
  }
  const close = closingQuote(bytes, start + 1, end);
  spans.parentStart = start + 1;
  spans.parentEnd = close;
  return close === -1 ? -1 : close + 1;
}

function readTimestamp(spans: EnvelopeSpans, bytes: DataView, at: number, end: number): number {
  const start = timestampText.after(bytes, at, end);
  const close = start === -1 ? -1 : closingQuote(bytes, start, end);
  if (close === -1) return -1;
  spans.timestampStart = start;
  spans.timestampEnd = close;
  return close + 1;
}

/** The role of a message or the customType of a custom record; nothing for other kinds. */
function readKindKey(spans: EnvelopeSpans, bytes: DataView, at: number, end: number): number {
  const { kind } = spans;
  spans.roleStart = -1;
  spans.usualRole = -1;
  spans.customTypeStart = -1;
  if (kind === "other") return at;
  const start = (kind === "message" ? roleText : customTypeText).after(bytes, at, end);
  const close = start === -1 ? -1 : closingQuote(bytes, start, end);
  if (close === -1) return -1;
  if (kind === "message") {
    spans.roleStart = start;
    spans.roleEnd = close;
  } else {
    spans.customTypeStart = start;
    spans.customTypeEnd = close;
  }
  return close + 1;
}

/** Returns where `,"id":` begins, or -1. */
function readTailBackward(
  spans: EnvelopeSpans,
  hasTimestamp: boolean,
  bytes: DataView,
  floor: number,
  end: number,
): number {
  let at = end - 1;
  if (hasTimestamp) {
    const open = openingQuote(bytes, floor, at);
    if (open === -1) return -1;
    spans.timestampStart = open + 1;
    spans.timestampEnd = at - 1;
    at = timestampKey.before(bytes, floor, open);
    if (at === -1) return -1;
  }
  at = readParentBackward(spans, bytes, floor, at);
  if (at === -1) return -1;
  const open = openingQuote(bytes, floor, at);
  if (open === -1) return -1;
  spans.idStart = open + 1;
  spans.idEnd = at - 1;
  return idKey.before(bytes, floor, open);
}

function readParentBackward(
  spans: EnvelopeSpans,
  bytes: DataView,
  floor: number,
  end: number,
): number {
  if (!isByteAt(bytes, end - 1, quote)) {
    spans.parentStart = -1;
    spans.parentEnd = -1;
    const nullStart = nullText.before(bytes, floor, end);
    return nullStart === -1 ? -1 : parentIdText.before(bytes, floor, nullStart);
  }
  const open = openingQuote(bytes, floor, end);
  if (open === -1) return -1;
  spans.parentStart = open + 1;
  spans.parentEnd = end - 1;
  return parentIdText.before(bytes, floor, open);
}

/**
 * Whether the bytes before the tail can be the last value of a custom record. After a torn custom
 * record, a complete record without payload would end in the same way, its type or customType being
 * that value; so a string there must be plain and belong to a key that such a record ends in.
 */
function isTrailingValue(bytes: DataView, floor: number, at: number): boolean {
  if (!isByteAt(bytes, at - 1, quote)) return true;
  const open = openingQuote(bytes, floor, at);
  return open !== -1 && trailingStringKeys.some((key) => key.before(bytes, floor, open) !== -1);
}
