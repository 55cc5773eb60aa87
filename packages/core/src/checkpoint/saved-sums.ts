/**
 * Checksums of a log as the second frame of its checkpoint: what it may hold, and what is written.
 * Their pieces lie behind each other, from their start to their end.
 */
import { isSameFile } from "../store/ports.ts";
import type { FileStat } from "../store/ports.ts";
import { sumsFrame } from "./checkpoint-format.ts";
import type { FrameContent, FrameSchema } from "./checkpoint-format.ts";
import { pieceBytesMax } from "./record-sums.ts";
import type { RecordSums } from "./record-sums.ts";
import { malformed, SavedFields } from "./saved-fields.ts";

/** A record with its newline, `{}`. Only gaps may be shorter, one for each record at most. */
const recordBytesMin = 3;
/** Pieces that are read also of a log that is shorter by now: 64 MiB of checksums. */
const lostPiecesMax = 8 * 1024 * 1024;

/** What checksums of a log may hold; it may have grown or been cut since they were taken. */
export function sumsSchema(log: FileStat): FrameSchema<RecordSums> {
  return {
    kind: sumsFrame,
    begin: (text, room) => {
      const fields = new SavedFields(text);
      const [dev, ino] = [fields.finite("dev"), fields.finite("ino")];
      if (!isSameFile({ dev, ino }, log)) throw malformed("checksums of this log");
      const start = fields.whole("start", 0, Number.MAX_SAFE_INTEGER);
      const end = fields.whole("end", start, Number.MAX_SAFE_INTEGER);
      const piecesMax = Math.max(lostPiecesMax, (log.size * 2) / recordBytesMin);
      const count = fields.whole("count", 0, Math.min(piecesMax, end - start));
      const gapCount = fields.whole("gapCount", 0, count);
      const firstLine = fields.whole("firstLine", 1, end + 1);
      const sums: RecordSums = {
        dev,
        ino,
        logVersion: fields.whole("logVersion", 0, Number.MAX_SAFE_INTEGER),
        isConfirmed: fields.flag("isConfirmed"),
        start,
        end,
        firstLine,
        nextLine: fields.whole("nextLine", firstLine, end + 1),
        count,
        lengths: room.uint32(count),
        sums: room.uint32(count),
        gapCount,
        gaps: room.uint32(gapCount),
        gapLines: room.uint32(gapCount),
      };
      return () => {
        checkPieces(sums);
        return sums;
      };
    },
  };
}

/** What is written of them. */
export function sumsContent(all: RecordSums): FrameContent {
  const { lengths, sums, gaps, gapLines, ...json } = all;
  return { json, columns: [lengths, sums, gaps, gapLines] };
}

function checkPieces({
  start,
  end,
  count,
  lengths,
  gapCount,
  gaps,
  gapLines,
  ...sums
}: RecordSums): void {
  let at = start;
  for (let piece = 0; piece < count; piece += 1) {
    const length = lengths[piece] ?? 0;
    if (length === 0 || length > pieceBytesMax) throw malformed("lengths of lines");
    at += length;
  }
  let [last, lines] = [-1, 0];
  for (let gap = 0; gap < gapCount; gap += 1) {
    const piece = gaps[gap] ?? -1;
    if (piece <= last || piece >= count) throw malformed("gaps between lines");
    last = piece;
    lines += gapLines[gap] ?? 0;
  }
  const isWhole = at === end && sums.firstLine + lines + count - gapCount === sums.nextLine;
  if (!isWhole) throw malformed("lines up to their end");
}
