/** The file name that agents give a session, and headers that inherit from another one. */
import { join } from "node:path";
import { readFullySync } from "@branchlog/streaming";
import { findMember, locateMembers } from "../dialects/object-members.ts";
import { encodeTitleSlot } from "../dialects/title-slot.ts";
import { encodeHeader } from "../entries/encode-entry.ts";
import type { SessionHeader } from "../entries/entry-types.ts";
import { BranchlogError } from "../errors.ts";
import type { Engine } from "../session/engine.ts";
import { nameBytesMax } from "../platform/sidecar.ts";

/** Throws `ERR_INVALID_SESSION_ID` if the id is too long for a file name. */
export function sessionPath(directory: string, { id, timestamp }: SessionHeader): string {
  const name = `${timestamp.replaceAll(/[:.]/g, "-")}_${id}.jsonl`;
  const excessBytes = Buffer.byteLength(name) - nameBytesMax;
  if (excessBytes <= 0) return join(directory, name);
  const message =
    `Session id has ${id.length} characters, ${excessBytes} too many for a file name; ` +
    "choose a shorter one";
  throw new BranchlogError("ERR_INVALID_SESSION_ID", message, { id });
}

export function* headerLines(engine: Engine, header: SessionHeader): Generator<Buffer> {
  const { titleSlot, indexer } = engine.log.state;
  if (titleSlot !== undefined) yield encodeTitleSlot(titleSlot);
  if (indexer.transcript !== undefined) {
    yield encodeHeader(header);
    return;
  }
  const { offset = 0, length = 0 } = indexer.header ?? {};
  const line = readFullySync(engine.log.file, Buffer.alloc(length), offset);
  yield inheritingHeader(header, line);
}

/** Fields that a new session sets itself. `branchedFrom` is the name of parentSession in v1. */
const ownKeys: ReadonlySet<string> = new Set([
  "type",
  "version",
  "id",
  "timestamp",
  "cwd",
  "parentSession",
  "branchedFrom",
]);

/** Copies the source header's fields that pi does not know: metadata of hosts outlives forks. */
function inheritingHeader(header: SessionHeader, source: Buffer): Buffer {
  const line = encodeHeader(header);
  const object = locateMembers(source, 0, source.length);
  const pieces: Buffer[] = [];
  for (const member of object?.members ?? []) {
    const isLast = object !== null && findMember(object, member.key) === member;
    if (ownKeys.has(member.key) || !isLast) continue;
    pieces.push(Buffer.from(","), source.subarray(member.keyStart, member.valueEnd));
  }
  const closing = line.length - "}\n".length;
  return Buffer.concat([line.subarray(0, closing), ...pieces, line.subarray(closing)]);
}
