/**
 * A checkpoint of a log: what is known of it, and by what it is recognised. Taken up again, what it
 * covers is neither read nor parsed. It is derived: whatever is wrong with it, it counts as
 * missing.
 */
import { decodeLine } from "@branchlog/streaming";
import { readFullySync } from "../bodies/body-reader.ts";
import { framePieces, indexFrame, sumsFrame } from "../checkpoint/checkpoint-format.ts";
import { bindingOf, isBoundAs, isBoundTo } from "../checkpoint/log-binding.ts";
import type { LogBinding } from "../checkpoint/log-binding.ts";
import type { RecordSums } from "../checkpoint/record-sums.ts";
import { readHeader } from "../dialects/header.ts";
import type { IndexedHeader } from "../index-table/log-indexer.ts";
import { checkpointPieceBytes } from "../limits.ts";
import { foldedVersions } from "../projections/folded.ts";
import type { LogFile } from "../store/log-file.ts";
import type { FileStat } from "../store/ports.ts";
import { isStillThere } from "./log-identity.ts";
import type { RememberedBytes } from "./log-identity.ts";
import type { LogState } from "./log-state.ts";
import type { SavedState } from "./saved-state.ts";

/** Where the lines that were read stand in their log, and by which bytes it is known. */
export interface Checkpoint {
  readonly binding: LogBinding;
  readonly header: { readonly offset: number; readonly length: number; readonly line: number };
  readonly remembered: { readonly beforeCursor: string; readonly start: string };
  /** Of longer lines, less is known. */
  readonly lineBytesMax: number;
  /** How far there are checksums of its records that hold. */
  readonly sumsEnd: number;
  readonly state: SavedState;
}

/**
 * Fills a state, of which nothing was read, from a checkpoint. False: it is not of this log. Throws
 * if either cannot be read; the state is of no use then.
 */
export function restoreState(state: LogState, checkpoint: Checkpoint, log: FileStat): boolean {
  const { binding, state: saved, remembered } = checkpoint;
  if (String(saved.folded.versions) !== String(foldedVersions)) return false;
  if (checkpoint.lineBytesMax !== state.lineBytesMax) return false;
  const bytes = rememberedFrom(remembered, saved.end);
  if (!isBoundTo(binding, state.file, log) || !isStillThere(state.file, bytes)) return false;
  const header = headerAt(state.file, checkpoint.header);
  if (header === undefined) return false;
  state.restore(saved, header, bytes);
  return true;
}

/** How far checksums reach that need not be compared with their log any more. */
export function sumsEndOf(sums: RecordSums | undefined): number {
  return sums?.isConfirmed === true ? sums.end : 0;
}

/**
 * The bytes of a checkpoint of a log as it is known; null while it ends within a line, or if what
 * has its name is not what is known.
 */
export function statePieces(
  state: LogState,
  sums: RecordSums | undefined,
): Iterable<Buffer> | null {
  const saved = state.save();
  const { header } = state.indexer;
  const binding = saved && stateBinding(state, saved.end);
  if (saved === null || header === undefined || binding === null) return null;
  const { beforeCursor, start } = state.rememberedBytes;
  const checkpoint: Checkpoint = {
    binding,
    header: { offset: header.offset, length: header.length, line: header.lineNumber },
    remembered: { beforeCursor: base64(beforeCursor), start: base64(start) },
    lineBytesMax: state.lineBytesMax,
    sumsEnd: sumsEndOf(sums),
    state: saved,
  };
  return framesOf(checkpoint, sums);
}

function* framesOf(checkpoint: Checkpoint, sums: RecordSums | undefined): Generator<Buffer> {
  yield* framePieces(indexFrame, checkpoint, checkpointPieceBytes);
  if (sums !== undefined) yield* framePieces(sumsFrame, sums, checkpointPieceBytes);
}

/** Binds to the file as it is now, if it still is the one that was read. */
function stateBinding(state: LogState, end: number): LogBinding | null {
  const { file } = state;
  const before = file.statSync();
  if (before === null || before.size < end) return null;
  const binding = bindingOf(file, before, end);
  if (!isStillThere(file, state.rememberedBytes)) return null;
  const after = file.statSync();
  const isSame = after !== null && isBoundAs(binding, after);
  return isSame && file.isAt(before) ? binding : null;
}

function headerAt(
  file: LogFile,
  { offset, length, line }: Checkpoint["header"],
): IndexedHeader | undefined {
  const bytes = Buffer.alloc(length);
  readFullySync(file, bytes, length, offset);
  const decoded = decodeLine(bytes);
  const reading = decoded.ok ? readHeader(decoded.value) : { kind: "not-header" as const };
  if (reading.kind !== "header") return undefined;
  return { header: reading.header, version: reading.version, offset, length, lineNumber: line };
}

function rememberedFrom(
  { beforeCursor, start }: Checkpoint["remembered"],
  cursor: number,
): RememberedBytes {
  return {
    cursor,
    beforeCursor: Buffer.from(beforeCursor, "base64"),
    start: Buffer.from(start, "base64"),
  };
}

function base64(bytes: Buffer): string {
  return bytes.toString("base64");
}
