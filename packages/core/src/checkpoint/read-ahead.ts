/**
 * Reads a frame while it is checked: some pieces are under way while the one before is. Memory
 * that is touched for the first time is what reading costs most, and so other threads touch it.
 */
import { crc32 } from "node:zlib";
import { runReads } from "@branchlog/streaming";
import type { ByteSource } from "@branchlog/streaming";
import { readWhole } from "../bodies/body-reader.ts";
import { checkpointReadBytes } from "../limits.ts";
import { closeFrame, openFrame } from "./checkpoint-format.ts";
import type { FrameInParts, FrameSchema } from "./checkpoint-format.ts";

/** Reads under way: as many as there are threads for them. */
const readsMax = 4;

/**
 * The value of the frame that a file of that size begins with; undefined if there is none. Blocks
 * only while a piece is checked. Throws what the source throws, and the schema, when nothing is
 * read any more.
 */
export async function readFrameAhead<T>(
  source: ByteSource,
  schema: FrameSchema<T>,
  size: number,
): Promise<T | undefined> {
  const frame = await runReads(source, openFrame(schema, 0, size, checkpointReadBytes));
  if (frame === undefined) return undefined;
  const reads: Promise<Buffer>[] = [];
  try {
    const checksum = await checkedAhead(source, frame, reads);
    return await runReads(source, closeFrame(frame, checksum));
  } finally {
    await Promise.allSettled(reads);
  }
}

async function checkedAhead(
  source: ByteSource,
  { pieces, checksum: before }: FrameInParts<unknown>,
  reads: Promise<Buffer>[],
): Promise<number> {
  let checksum = before;
  for (let at = 0; at < pieces.length; at += 1) {
    for (const { target, position } of pieces.slice(reads.length, at + readsMax)) {
      const read = runReads(source, readWhole(target, position));
      // It may fail before it is waited for; that is not unhandled.
      read.catch(() => undefined);
      reads.push(read);
    }
    checksum = crc32((await reads[at]) ?? Buffer.alloc(0), checksum);
  }
  return checksum;
}
