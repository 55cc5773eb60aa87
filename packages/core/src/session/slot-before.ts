/** Reads the title slot of omp from a log, if it has one. */
import type { ByteSource } from "@branchlog/streaming";
import { readFullySync } from "../bodies/body-reader.ts";
import { readTitleSlot, titleSlotBytes } from "../dialects/title-slot.ts";
import type { TitleSlot } from "../dialects/title-slot.ts";

/** The slot of a log whose header is at `headerOffset`. One small read where one may be. */
export function slotBefore(source: ByteSource, headerOffset: number): TitleSlot | undefined {
  if (headerOffset < titleSlotBytes) return undefined;
  const bytes = Buffer.alloc(titleSlotBytes);
  readFullySync(source, bytes, bytes.length, 0);
  return readTitleSlot(bytes);
}
