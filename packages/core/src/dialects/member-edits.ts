/**
 * Changes single members of a JSON object in its bytes: a value is replaced where its key stands,
 * or added as the last member; a member gives way to others, or is cut. Every other byte stays as
 * it is. Pure.
 */
import { findMember } from "./object-members.ts";
import type { ObjectMembers } from "./object-members.ts";

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

/** What stands in the place of the member with a key; nothing cuts it. */
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
    // Before the first one that stays there is no comma to take along, so the one behind goes.
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
