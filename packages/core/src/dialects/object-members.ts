/**
 * Locates the top-level members of a JSON object in its bytes, so that single values can be
 * replaced. Assumes valid JSON: skipped values are not checked. One pass, no recursion.
 */
import { isSpace, skipSpace } from "@branchlog/streaming";
import type { JsonObject, JsonValue } from "@branchlog/streaming";

/** One `"key":value`; spans are byte offsets, ends exclusive. */
export interface Member {
  /** Decoded. Keys may repeat: the last one counts. */
  readonly key: string;
  readonly keyStart: number;
  readonly valueStart: number;
  readonly valueEnd: number;
}

export interface ObjectMembers {
  readonly members: readonly Member[];
  readonly close: number;
}

/**
 * White space around the object (also `\r`) is allowed. Null unless there is exactly one object.
 * Linear in the span.
 */
export function locateMembers(bytes: Buffer, start: number, end: number): ObjectMembers | null {
  const { members, close } = membersFrom(bytes, start, end);
  if (close === null || skipSpace(bytes, close + 1, end) !== end) return null;
  return { members, close };
}

/**
 * The members whose values are whole, in bytes that may be cut off or damaged after them; empty
 * unless they begin with an object. Linear.
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

/** `close` is null if the object does not end. */
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

/** Of repeated keys the last, as JSON.parse takes it. */
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

export function decodeString(text: string): string | null {
  if (!text.includes("\\")) return text.slice(1, -1);
  const value = decodeValue(text);
  return typeof value === "string" ? value : null;
}

function decodeValue(text: string): JsonValue | undefined {
  try {
    // Decoding boundary: JSON.parse returns only JSON values.
    return JSON.parse(text) as JsonValue;
  } catch {
    return undefined;
  }
}

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

// Edits single members of a JSON object in its bytes; every other byte stays. Pure.

/** Replaces the bytes [start, end). */
export interface MemberEdit {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

export type NewValue = readonly [key: string, text: string];

/** Replaces values in place; absent keys are added at the end. */
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

/** Changes of the members of an object. */
export interface MemberChanges {
  /** Each key that is there is replaced by members; by none: it is removed. */
  readonly replaced: readonly (readonly [key: string, members: readonly NewValue[]])[];
  /** Set, or added at the end. */
  readonly set: readonly NewValue[];
}

/** The same buffer if nothing changes, or if it holds no object. Another member must remain. */
export function withMembers(line: Buffer, { replaced, set }: Partial<MemberChanges>): Buffer {
  const object = locateMembers(line, 0, line.length);
  if (object === null) return line;
  return applyEdits(line, [
    ...replaceMembers(object, replaced ?? []),
    ...setMembers(object, set ?? []),
  ]);
}

/** With another value at a path of keys, which must be there. Linear. */
export function withValueAt(line: Buffer, path: readonly string[], text: string): Buffer {
  let [start, end] = [0, line.length];
  for (const key of path) {
    const object = locateMembers(line, start, end);
    const member = object === null ? undefined : findMember(object, key);
    if (member === undefined) return line;
    [start, end] = [member.valueStart, member.valueEnd];
  }
  return applyEdits(line, [{ start, end, text }]);
}

/** Absent keys change nothing. */
function replaceMembers(object: ObjectMembers, changes: MemberChanges["replaced"]): MemberEdit[] {
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

/** Removes every member with these keys, with one comma each. Another member must remain. */
export function cutMembers(object: ObjectMembers, keys: readonly string[]): MemberEdit[] {
  const edits: MemberEdit[] = [];
  const first = object.members.findIndex((member) => !keys.includes(member.key));
  for (const [at, member] of object.members.entries()) {
    const [before, behind] = [object.members[at - 1], object.members[at + 1]];
    if (!keys.includes(member.key)) continue;
    // Before the first remaining member there is no comma, so the one after is removed.
    if (at > first && before !== undefined) {
      edits.push({ start: before.valueEnd, end: member.valueEnd, text: "" });
    } else if (behind !== undefined) {
      edits.push({ start: member.keyStart, end: behind.keyStart, text: "" });
    }
  }
  return edits;
}

/** Edits must not overlap. The same buffer without edits. */
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

// Replaces the links of an entry for a copy of its branch; every other byte is the source's. Pure.

export interface NewLinks {
  readonly parentId?: string | null;
  readonly firstKeptEntryId?: string;
  readonly providerReplayThroughEntryId?: string;
}

const linkKeys = ["parentId", "firstKeptEntryId", "providerReplayThroughEntryId"] as const;

export function isEmptyLinks(links: NewLinks): boolean {
  return linkKeys.every((key) => links[key] === undefined);
}

/**
 * Links are replaced in place, or added as the last members.
 *
 * @param line JSON in the current form, line ending included; returned unchanged if it holds no
 * object.
 * @returns The same buffer if nothing changes.
 */
export function relinkLine(line: Buffer, links: NewLinks): Buffer {
  const set: NewValue[] = [];
  for (const key of linkKeys) {
    const link = links[key];
    if (link !== undefined) set.push([key, JSON.stringify(link)]);
  }
  return set.length === 0 ? line : withMembers(line, { set });
}
