/**
 * Brings one line of an older file into the current form by changing only the bytes that must
 * change: ids before the final brace, the role and the version in their place. Nothing is parsed
 * and written anew, so number forms, escapes and white space elsewhere stay as they are. Pure.
 */
import { currentVersion } from "./header.ts";
import { applyEdits, cutMembers, setMembers } from "./member-edits.ts";
import type { MemberEdit, NewValue } from "./member-edits.ts";
import {
  decodeString,
  findMember,
  locateMembers,
  type Member,
  type ObjectMembers,
} from "./object-members.ts";
import { hookRole, keptEntryId, type UpcastContext } from "./upcast.ts";

/** What is known about the line. */
export interface MigrationContext extends UpcastContext {
  /** `header` for every record of type session, `entry` for every other record. */
  readonly kind: "header" | "entry";
}

/**
 * The migrated line: `JSON.parse` of it is what `upcastEntry` or `upcastHeader` makes of the
 * record, with the same order of keys.
 *
 * @param line A record, with or without its line ending, which is kept. Lines that hold no object
 * come back as they are; of the others it is trusted that they are JSON.
 * @returns The same buffer if there is nothing to change.
 */
export function migrateLine(line: Buffer, context: MigrationContext): Buffer {
  if (context.version === 3) return line;
  const object = locateMembers(line, 0, line.length);
  if (object === null) return line;
  const edits =
    context.kind === "header"
      ? setMembers(object, [["version", String(currentVersion)]])
      : entryEdits(line, object, context);
  return applyEdits(line, edits);
}

const indexKey = "firstKeptEntryIndex";
const boundaryKey = "firstKeptEntryId";

function entryEdits(line: Buffer, object: ObjectMembers, context: UpcastContext): MemberEdit[] {
  const type = stringOf(line, findMember(object, "type"));
  const edits = type === "message" ? roleEdits(line, findMember(object, "message")) : [];
  if (context.version !== 1) return edits;
  const links: NewValue[] = [
    ["id", JSON.stringify(context.id)],
    ["parentId", JSON.stringify(context.parentId)],
  ];
  const index = type === "compaction" ? numberOf(line, findMember(object, indexKey)) : undefined;
  if (index !== undefined) {
    const target = keptEntryId(index, context);
    edits.push(...cutMembers(object, target === null ? [indexKey, boundaryKey] : [indexKey]));
    if (typeof target === "string") links.push([boundaryKey, JSON.stringify(target)]);
  }
  edits.push(...setMembers(object, links));
  return edits;
}

function roleEdits(line: Buffer, message: Member | undefined): MemberEdit[] {
  if (message === undefined) return [];
  const object = locateMembers(line, message.valueStart, message.valueEnd);
  const role = object === null ? undefined : findMember(object, "role");
  if (role === undefined || stringOf(line, role) !== hookRole) return [];
  return [{ start: role.valueStart, end: role.valueEnd, text: '"custom"' }];
}

function stringOf(line: Buffer, member: Member | undefined): string | null {
  if (member === undefined || line[member.valueStart] !== 0x22) return null;
  return decodeString(line.toString("utf8", member.valueStart, member.valueEnd));
}

function numberOf(line: Buffer, member: Member | undefined): number | undefined {
  if (member === undefined || !/[-0-9]/.test(byteAt(line, member.valueStart))) return undefined;
  return Number(line.toString("latin1", member.valueStart, member.valueEnd));
}

function byteAt(line: Buffer, at: number): string {
  return line.toString("latin1", at, at + 1);
}
