/**
 * Migrates one line of an older file by changing only the necessary bytes: ids before the final
 * brace, role and version in place. Number forms, escapes and white space stay. Pure.
 */
import { BranchlogError } from "../errors.ts";
import { currentVersion, hookRole, keptEntryId } from "./header.ts";
import type { UpcastContext } from "./header.ts";
import {
  applyEdits,
  cutMembers,
  decodeString,
  findMember,
  locateMembers,
  setMembers,
} from "./object-members.ts";
import type { Member, MemberEdit, NewValue, ObjectMembers } from "./object-members.ts";

export interface MigrationContext extends UpcastContext {
  /** `header` for records of type session. */
  readonly kind: "header" | "entry";
}

/**
 * `JSON.parse` of the result equals `upcastEntry` of the record, in the same key order; a
 * header gets the current version, in place or as its last member.
 *
 * @param line JSON, line ending included; returned unchanged if it holds no object.
 * @returns The same buffer if nothing changes.
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
  if (member === undefined) return undefined;
  const text = line.toString("latin1", member.valueStart, member.valueEnd);
  return /^[-0-9]/.test(text) ? Number(text) : undefined;
}

// Ids for v1 entries: a fixed bijection of line numbers, keyed by the header id, equal in every
// process and version (golden vectors in the tests; a change would detach labels and forks). Not
// secret, not random.

const rounds = 4;

/**
 * 8 lower-case hex digits, unique among the line numbers of one file.
 *
 * @param headerId As stored; any string.
 * @param lineNumber Physical, from 1.
 * @throws `ERR_INVALID_ARGUMENT` for anything but an unsigned 32-bit line number.
 */
export function legacyEntryId(headerId: string, lineNumber: number): string {
  if (lineNumber >>> 0 !== lineNumber) {
    const message = "A line number must be an unsigned 32-bit integer";
    throw new BranchlogError("ERR_INVALID_ARGUMENT", message, { line: lineNumber });
  }
  const key = hashText(headerId);
  // A Feistel network is a bijection for any round function.
  let left = lineNumber >>> 16;
  let right = lineNumber & 0xffff;
  for (let round = 0; round < rounds; round += 1) {
    const mixed = mix(right ^ Math.imul(key + round, 0x9e3779b1)) & 0xffff;
    [left, right] = [right, left ^ mixed];
  }
  const permuted = ((left << 16) | right) >>> 0;
  return permuted.toString(16).padStart(8, "0");
}

/** FNV-1a over UTF-16 code units, low byte first, then mixed. */
function hashText(text: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at += 1) {
    const unit = text.charCodeAt(at);
    hash = Math.imul(hash ^ (unit & 0xff), 0x01000193);
    hash = Math.imul(hash ^ (unit >>> 8), 0x01000193);
  }
  return mix(hash);
}

/** The finaliser of MurmurHash3: every input bit changes about half of the output. */
function mix(word: number): number {
  let mixed = word ^ (word >>> 16);
  mixed = Math.imul(mixed, 0x85ebca6b);
  mixed ^= mixed >>> 13;
  mixed = Math.imul(mixed, 0xc2b2ae35);
  return mixed ^ (mixed >>> 16);
}
