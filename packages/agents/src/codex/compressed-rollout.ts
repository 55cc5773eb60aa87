/** Rollouts that Codex compressed, as it does with those that were not used for a week. */
import { readFileSync } from "node:fs";
import { Decompress } from "fzstd";
import { BranchlogError } from "@branchlog/core";
import { reasonOf } from "@branchlog/core/files";
import type { DocumentBytes } from "@branchlog/core/rows";

/** A buffer cannot be much larger. */
const rolloutBytesMax = 1024 * 1024 * 1024;
const pieceBytes = 64 * 1024;

/** As `DocumentFormat.toLog`: the lines of the rollout. */
export function rolloutIn(path: string, given?: DocumentBytes): Buffer {
  const bytes = given?.bytes ?? readFileSync(path);
  const pieces: Uint8Array[] = [];
  let length = 0;
  const stream = new Decompress((piece) => {
    length += piece.length;
    if (length > rolloutBytesMax) throw new Error("it expands to more than 1 GiB");
    pieces.push(piece);
  });
  try {
    for (let at = 0; at < bytes.length; at += pieceBytes) {
      stream.push(bytes.subarray(at, at + pieceBytes), at + pieceBytes >= bytes.length);
    }
  } catch (cause) {
    const message =
      `${path} cannot be decompressed (${reasonOf(cause)}). It was not changed. zstd -d FILE -o ` +
      "COPY.jsonl may decompress a copy that can be read.";
    throw new BranchlogError("ERR_DOCUMENT_DAMAGED", message, { path, cause });
  }
  return Buffer.concat(pieces, length);
}
