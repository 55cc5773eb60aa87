/**
 * Finds the top-level members of a JSON object in its bytes, without building it, so that single
 * values can be replaced while every other byte stays. It trusts that the bytes are JSON: what it
 * steps over is not checked. One pass, no recursion.
 */

/** One `"key":value`; the spans are offsets into the bytes, ends exclusive. */
export interface Member {
  /** Decoded. An object may have a key more than once: the last one counts. */
  readonly key: string;
  /** Of the opening quote of the key. */
  readonly keyStart: number;
  readonly valueStart: number;
  readonly valueEnd: number;
}

/** The members in their order, and where the object ends. */
export interface ObjectMembers {
  readonly members: readonly Member[];
  /** Of the closing brace. */
  readonly close: number;
}

/**
 * The members of the object in `bytes[start, end)`, with white space around it (also `\r`). Null
 * if there is no object, or not only one. Linear in the span.
 */
export function locateMembers(bytes: Buffer, start: number, end: number): ObjectMembers | null {
  const members: Member[] = [];
  let at = skipSpace(bytes, start, end);
  if (at >= end || bytes[at] !== openBrace) return null;
  at = skipSpace(bytes, at + 1, end);
  while (at < end && bytes[at] !== closeBrace) {
    if (members.length > 0) {
      if (bytes[at] !== comma) return null;
      at = skipSpace(bytes, at + 1, end);
    }
    const member = locateMember(bytes, at, end);
    if (member === null) return null;
    members.push(member);
    at = skipSpace(bytes, member.valueEnd, end);
  }
  if (at >= end || skipSpace(bytes, at + 1, end) !== end) return null;
  return { members, close: at };
}

/** The member that counts for JSON.parse: the last one with this key. */
export function findMember(object: ObjectMembers, key: string): Member | undefined {
  return object.members.findLast((member) => member.key === key);
}

const [quote, backslash, comma, colon] = [0x22, 0x5c, 0x2c, 0x3a];
const [openBrace, closeBrace, openBracket, closeBracket] = [0x7b, 0x7d, 0x5b, 0x5d];

function locateMember(bytes: Buffer, keyStart: number, end: number): Member | null {
  if (keyStart >= end || bytes[keyStart] !== quote) return null;
  const keyEnd = skipString(bytes, keyStart, end);
  const colonAt = skipSpace(bytes, keyEnd, end);
  if (colonAt >= end || bytes[colonAt] !== colon) return null;
  const valueStart = skipSpace(bytes, colonAt + 1, end);
  const valueEnd = skipValue(bytes, valueStart, end);
  if (valueEnd <= valueStart) return null;
  const key = decodeString(bytes.toString("utf8", keyStart, keyEnd));
  return key === null ? null : { key, keyStart, valueStart, valueEnd };
}

/** The text of a JSON string, quotes included, as its value; null if it is not one. */
export function decodeString(text: string): string | null {
  if (!text.includes("\\")) return text.slice(1, -1);
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "string" ? value : null;
  } catch {
    return null;
  }
}

/** Behind the value that starts at `at`; `at` itself if none does. */
function skipValue(bytes: Buffer, at: number, end: number): number {
  const first = bytes[at];
  if (first === quote) return skipString(bytes, at, end);
  if (first === openBrace || first === openBracket) return skipNested(bytes, at, end);
  let behind = at;
  while (behind < end && !endsScalar(bytes[behind])) behind += 1;
  return behind;
}

function skipNested(bytes: Buffer, start: number, end: number): number {
  let depth = 0;
  let at = start;
  while (at < end) {
    const byte = bytes[at];
    if (byte === quote) {
      at = skipString(bytes, at, end);
      continue;
    }
    at += 1;
    if (byte === openBrace || byte === openBracket) depth += 1;
    if (byte === closeBrace || byte === closeBracket) depth -= 1;
    if (depth === 0) return at;
  }
  return end;
}

/** Behind the closing quote; `end` if there is none. */
function skipString(bytes: Buffer, start: number, end: number): number {
  let at = start + 1;
  while (at < end) {
    const byte = bytes[at];
    if (byte === quote) return at + 1;
    at += byte === backslash ? 2 : 1;
  }
  return end;
}

function skipSpace(bytes: Buffer, start: number, end: number): number {
  let at = start;
  while (at < end && isSpace(bytes[at])) at += 1;
  return at;
}

function isSpace(byte: number | undefined): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;
}

function endsScalar(byte: number | undefined): boolean {
  return byte === comma || byte === closeBrace || byte === closeBracket || isSpace(byte);
}
