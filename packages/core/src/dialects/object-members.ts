/**
 * Finds the top-level members of a JSON object in its bytes, without building it, so that single
 * values can be replaced while every other byte stays. It trusts that the bytes are JSON: what it
 * steps over is not checked. One pass, no recursion.
 */
import { isSpace, skipSpace } from "@branchlog/streaming";
import type { JsonObject, JsonValue } from "@branchlog/streaming";

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
  const { members, close } = membersFrom(bytes, start, end);
  if (close === null || skipSpace(bytes, close + 1, end) !== end) return null;
  return { members, close };
}

/**
 * What the beginning of an object says: the members whose values are whole, in bytes that may be
 * cut off or damaged behind them. Empty if the bytes do not begin with an object. Linear.
 */
export function beginningOf(bytes: Buffer): JsonObject {
  const { members } = membersFrom(bytes, 0, bytes.length);
  const whole = members.flatMap(({ key, valueStart, valueEnd }): [string, JsonValue][] => {
    const value = decodeValue(bytes.toString("utf8", valueStart, valueEnd));
    return value === undefined ? [] : [[key, value]];
  });
  // Through entries, since a key may be `__proto__`.
  return Object.fromEntries(whole);
}

/** The members from `start` on, as far as they are JSON; `close` is null if they do not end. */
function membersFrom(
  bytes: Buffer,
  start: number,
  end: number,
): { readonly members: readonly Member[]; readonly close: number | null } {
  const members: Member[] = [];
  let at = skipSpace(bytes, start, end);
  if (at >= end || bytes[at] !== openBrace) return { members, close: null };
  at = skipSpace(bytes, at + 1, end);
  while (at < end && bytes[at] !== closeBrace) {
    if (members.length > 0) {
      if (bytes[at] !== comma) return { members, close: null };
      at = skipSpace(bytes, at + 1, end);
    }
    const member = locateMember(bytes, at, end);
    if (member === null) return { members, close: null };
    members.push(member);
    at = skipSpace(bytes, member.valueEnd, end);
  }
  return { members, close: at < end ? at : null };
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
  const value = decodeValue(text);
  return typeof value === "string" ? value : null;
}

/** The value of a JSON text; undefined if it is not JSON. */
function decodeValue(text: string): JsonValue | undefined {
  try {
    // Decoding boundary: JSON.parse returns only JSON values.
    return JSON.parse(text) as JsonValue;
  } catch {
    return undefined;
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

function endsScalar(byte: number | undefined): boolean {
  return byte === comma || byte === closeBrace || byte === closeBracket || isSpace(byte);
}

// Changes single members of a JSON object in its bytes: a value is replaced at its key,
// or added as the last member; a member gives way to others, or is cut. Every other byte stays as
// it is. Pure.

/** Puts `text` in place of the bytes [start, end). */
export interface MemberEdit {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

/** A key with the JSON text of its new value. */
export type NewValue = readonly [key: string, text: string];

/** Edits that replace values where their keys are; keys that are not there are added at the end. */
export function setMembers(object: ObjectMembers, values: readonly NewValue[]): MemberEdit[] {
  const edits: MemberEdit[] = [];
  const added: string[] = [];
  for (const [key, text] of values) {
    const member = findMember(object, key);
    if (member === undefined) added.push(`${JSON.stringify(key)}:${text}`);
    else edits.push({ start: member.valueStart, end: member.valueEnd, text });
  }
  if (added.length > 0) {
    const text = `${object.members.length > 0 ? "," : ""}${added.join(",")}`;
    edits.push({ start: object.close, end: object.close, text });
  }
  return edits;
}

/** The replacement of the member with a key; nothing removes it. */
export type MemberChange = readonly [key: string, members: readonly NewValue[]];

/** Edits that put members in the place of others. Keys that are not there change nothing. */
export function replaceMembers(
  object: ObjectMembers,
  changes: readonly MemberChange[],
): MemberEdit[] {
  const edits: MemberEdit[] = [];
  const cut: string[] = [];
  for (const [key, members] of changes) {
    const member = findMember(object, key);
    if (member === undefined) continue;
    const text = members.map(([name, value]) => `${JSON.stringify(name)}:${value}`).join(",");
    if (text === "") cut.push(key);
    else edits.push({ start: member.keyStart, end: member.valueEnd, text });
  }
  edits.push(...cutMembers(object, cut));
  return edits;
}

/** Edits that cut every member with one of these keys, each with one comma. Another must remain. */
export function cutMembers(object: ObjectMembers, keys: readonly string[]): MemberEdit[] {
  const edits: MemberEdit[] = [];
  const first = object.members.findIndex((member) => !keys.includes(member.key));
  for (const [at, member] of object.members.entries()) {
    const [before, behind] = [object.members[at - 1], object.members[at + 1]];
    if (!keys.includes(member.key)) continue;
    // Before the first one that stays there is no comma to remove, so the one behind is.
    if (at > first && before !== undefined) {
      edits.push({ start: before.valueEnd, end: member.valueEnd, text: "" });
    } else if (behind !== undefined) {
      edits.push({ start: member.keyStart, end: behind.keyStart, text: "" });
    }
  }
  return edits;
}

/** The line with the edits made; they must not overlap. The same buffer if there are none. */
export function applyEdits(line: Buffer, edits: readonly MemberEdit[]): Buffer {
  if (edits.length === 0) return line;
  const pieces: Buffer[] = [];
  let at = 0;
  for (const edit of edits.toSorted((a, b) => a.start - b.start)) {
    pieces.push(line.subarray(at, edit.start), Buffer.from(edit.text));
    at = edit.end;
  }
  pieces.push(line.subarray(at));
  return Buffer.concat(pieces);
}

// Gives the line of an entry other links, as a copy of a branch needs them, by changing only the
// bytes of those links: everything else, number forms and unknown fields with it, is the source's.
// Pure.

/** The links to change; those that are absent stay. */
export interface NewLinks {
  readonly parentId?: string | null;
  readonly firstKeptEntryId?: string;
  readonly providerReplayThroughEntryId?: string;
}

const linkKeys = ["parentId", "firstKeptEntryId", "providerReplayThroughEntryId"] as const;

/** Whether there is nothing to change. */
export function isEmptyLinks(links: NewLinks): boolean {
  return linkKeys.every((key) => links[key] === undefined);
}

/**
 * The line with these links: replaced in their places, or added as the last members.
 *
 * @param line A record in the current form, with or without its line ending, which is kept; it is
 * trusted to be JSON. A line that holds no object comes back as it is.
 * @returns The same buffer if no link is to change.
 */
export function relinkLine(line: Buffer, links: NewLinks): Buffer {
  const values: NewValue[] = [];
  for (const key of linkKeys) {
    const link = links[key];
    if (link !== undefined) values.push([key, JSON.stringify(link)]);
  }
  if (values.length === 0) return line;
  const object = locateMembers(line, 0, line.length);
  return object === null ? line : applyEdits(line, setMembers(object, values));
}
