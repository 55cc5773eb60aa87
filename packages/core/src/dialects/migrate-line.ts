/**
 * Brings one line of an older file into the current form by changing only the bytes that must
 * change: ids before the final brace, the role and the version in their place. Nothing is parsed
 * and written anew, so number forms, escapes and white space elsewhere stay as they are. Pure.
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

// Ids for the entries of v1 files, which have none: a fixed bijection of line numbers, keyed by the
// header id. Equal on every open, in every process and version of Branchlog (the tests hold golden
// vectors; a change would tear labels and forks off their targets). Not secret, not random.

const rounds = 4;

/**
 * The id of the entry on a line of a v1 file: 8 lower-case hex digits, different for each line
 * number of one file.
 *
 * @param headerId The session id as stored; any string.
 * @param lineNumber 1-based physical line number.
 * @throws `ERR_INVALID_ARGUMENT` for a line number that is not an unsigned 32-bit integer.
 */
export function legacyEntryId(headerId: string, lineNumber: number): string {
  if (lineNumber >>> 0 !== lineNumber) {
    const message = "A line number must be an unsigned 32-bit integer";
    throw new BranchlogError("ERR_INVALID_ARGUMENT", message, { line: lineNumber });
  }
  const key = hashText(headerId);
  // A Feistel network is a bijection whatever its round function is.
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

/** The finaliser of MurmurHash3: every bit of the input changes about half of the output. */
function mix(word: number): number {
  let mixed = word ^ (word >>> 16);
  mixed = Math.imul(mixed, 0x85ebca6b);
  mixed ^= mixed >>> 13;
  mixed = Math.imul(mixed, 0xc2b2ae35);
  return mixed ^ (mixed >>> 16);
}
