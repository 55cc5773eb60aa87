/**
 * Binds a checkpoint to its log: the file, and samples of the covered bytes. A log that only grew
 * is recognised by few reads.
 */
import { crc32 } from "node:zlib";
import { readFullySync } from "@branchlog/streaming";
import type { ByteSource } from "@branchlog/streaming";
import { slotLength } from "../dialects/title-slot.ts";
import { malformed, wholeNumber } from "../entries/saved-fields.ts";
import type { SavedFields } from "../entries/saved-fields.ts";
import { isSameState } from "../platform/ports.ts";
import type { FileStat, FileState } from "../platform/ports.ts";

export interface LogBinding extends FileState {
  readonly end: number;
  readonly samples: readonly number[];
}

const sampleBytes = 4096;
const samplesBetween = 64;
const sampleCount = samplesBetween + 2;
const crcMax = 2 ** 32 - 1;

export function bindingOf(source: ByteSource, stat: FileStat, end: number): LogBinding {
  const { dev, ino, size, ctimeMs } = stat;
  return { dev, ino, size, ctimeMs, end, samples: samplesOf(source, end) };
}

/** Of a log in a store that says up to `end` that it is the one of the checkpoint. */
export function bindingByStore({ dev, ino, size, ctimeMs }: FileStat, end: number): LogBinding {
  return { dev, ino, size, ctimeMs, end, samples: [] };
}

/** A binding without all samples would match any log: throws `TypeError`. */
export function readBinding(fields: SavedFields): LogBinding {
  const end = fields.whole("end", 1, Number.MAX_SAFE_INTEGER);
  const samples = fields.list("samples", sampleCount, (sum) => wholeNumber(sum, 0, crcMax));
  if (samples.length !== sampleCount) throw malformed("all samples", "samples");
  return {
    dev: fields.finite("dev"),
    ino: fields.finite("ino"),
    size: fields.whole("size", end, Number.MAX_SAFE_INTEGER),
    ctimeMs: fields.finite("ctimeMs"),
    end,
    samples,
  };
}

export function isBoundTo(binding: LogBinding, source: ByteSource, stat: FileStat): boolean {
  const { dev, ino, end, samples } = binding;
  if (stat.dev !== dev || stat.ino !== ino || stat.size < end) return false;
  if (isSameState(binding, stat)) return true;
  const now = samplesOf(source, end);
  return now.length === samples.length && now.every((sum, at) => sum === samples[at]);
}

/** Omits a title slot, which is rewritten in place. */
function samplesOf(source: ByteSource, end: number): number[] {
  const part = Buffer.alloc(Math.min(sampleBytes, end));
  const last = end - part.length;
  let slot = 0;
  return Array.from({ length: sampleCount }, (_, at) => {
    const position = Math.floor((last * at) / (samplesBetween + 1));
    readFullySync(source, part, position);
    if (at === 0) slot = slotLength(part);
    return crc32(part.subarray(Math.min(part.length, Math.max(0, slot - position))));
  });
}
