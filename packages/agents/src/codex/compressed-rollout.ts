/** Rollouts that Codex compressed, as it does with those that were not used for a week. */
import { readFileSync } from "node:fs";
import { Decompress } from "fzstd";
import { BranchlogError } from "@branchlog/core";
import { reasonOf } from "@branchlog/core/files";
import type { DocumentBytes } from "@branchlog/core/rows";
import { isPartOfThread } from "./rollout-parts.ts";

/** A buffer cannot be much larger. */
const rolloutBytesMax = 1024 * 1024 * 1024;
const pieceBytes = 64 * 1024;

/** As `DocumentFormat.toLog`: the lines of the rollout. */
export function rolloutIn(path: string, given?: DocumentBytes): Buffer {
  if (given === undefined && isPartOfThread(path)) throw partOfThread(path);
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
      `${path} cannot be decompressed (${reasonOf(cause)}). It was not changed. zstd -dc FILE > ` +
      "COPY.jsonl may decompress the beginning of it.";
    throw new BranchlogError("ERR_DOCUMENT_DAMAGED", message, { path, cause });
  }
  return Buffer.concat(pieces, length);
}

/** Its files are one session: read alone, it would be removed alone. */
function partOfThread(path: string): BranchlogError {
  const message =
    `${path} is one of several files of a thread, which is not read while one is compressed. It ` +
    "was not changed. Decompress copies of all of them into one directory: zstd -d FILE -o COPY";
  return new BranchlogError("ERR_NOT_A_SESSION", message, { path });
}
