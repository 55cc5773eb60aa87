/**
 * Changes single values of a JSON object in its bytes: a value is replaced where its key stands, or
 * added as the last member; every other byte stays as it is. Pure.
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
