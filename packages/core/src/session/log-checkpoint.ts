/**
 * A checkpoint of a log: what is known of it, and by what it is recognised. Taken up again, what it
 * covers is neither read nor parsed. It is derived: whatever is wrong with it, it counts as
 * missing.
 */
import { decodeLine } from "@branchlog/streaming";
import { readFullySync } from "../bodies/body-reader.ts";
import { checkpointPieces } from "../checkpoint/checkpoint-format.ts";
import { bindingOf, isBoundTo } from "../checkpoint/log-binding.ts";
import type { LogBinding } from "../checkpoint/log-binding.ts";
import { readHeader } from "../dialects/header.ts";
import type { IndexedHeader } from "../index-table/log-indexer.ts";
import { foldedVersions } from "../projections/folded.ts";
import type { LogFile } from "../store/log-file.ts";
import type { FileStat } from "../store/ports.ts";
import type { RememberedBytes } from "./log-identity.ts";
import type { LogState, SavedState } from "./log-state.ts";

/** Where the lines that were read stand in their log, and by which bytes it is known. */
export interface Checkpoint {
  readonly binding: LogBinding;
  readonly header: { readonly offset: number; readonly length: number; readonly line: number };
  readonly remembered: { readonly beforeCursor: string; readonly start: string };
  readonly state: SavedState;
}

/**
 * Fills a state, of which nothing was read, from a checkpoint. False: it is not of this log. Throws
 * if either cannot be read; the state is of no use then.
 */
export function restoreState(state: LogState, checkpoint: Checkpoint, log: FileStat): boolean {
  const { binding, state: saved, remembered } = checkpoint;
  if (String(saved.folded.versions) !== String(foldedVersions)) return false;
  if (!isBoundTo(binding, state.file, log)) return false;
  const header = headerAt(state.file, checkpoint.header);
  if (header === undefined) return false;
  state.restore(saved, header, rememberedFrom(remembered, saved.end));
  return true;
}

/** The pieces of a checkpoint of a log as it is known; null while it ends within a line. */
export function statePieces(state: LogState, stat: FileStat): Iterable<Buffer> | null {
  const saved = state.save();
  const { header } = state.indexer;
  if (saved === null || header === undefined) return null;
  const { beforeCursor, start } = state.rememberedBytes;
  const checkpoint: Checkpoint = {
    binding: bindingOf(state.file, stat, saved.end),
    header: { offset: header.offset, length: header.length, line: header.lineNumber },
    remembered: { beforeCursor: base64(beforeCursor), start: base64(start) },
    state: saved,
  };
  return checkpointPieces(checkpoint);
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
