/**
 * The bytes of a repaired log, as its plan says: copied from the log, never written anew, but for
 * the lines that are added. Memory is bounded by the chunk, however long a line is.
 */
import { readRangeAsync } from "@branchlog/streaming";
import type { ByteSource } from "@branchlog/streaming";
import { addedLine } from "./added-line.ts";
import { copyBytes } from "./limits.ts";
import type { RepairStep } from "./repair-plan.ts";

const newline = Buffer.from("\n");

/** The bytes in chunks of at least `copyBytes`, but the last one. Throws what reading throws. */
export async function* repairedChunks(
  steps: readonly RepairStep[],
  source: ByteSource,
): AsyncGenerator<Buffer, void, undefined> {
  let gathered: Buffer[] = [];
  let bytes = 0;
  for (const step of steps) {
    for await (const piece of piecesOf(step, source)) {
      gathered.push(piece);
      bytes += piece.length;
      if (bytes < copyBytes) continue;
      yield Buffer.concat(gathered);
      gathered = [];
      bytes = 0;
    }
  }
  if (bytes > 0) yield Buffer.concat(gathered);
}

async function* piecesOf(step: RepairStep, source: ByteSource): AsyncGenerator<Buffer> {
  if (step.kind === "keep" || step.kind === "recover") {
    yield* readRangeAsync(source, step.offset, step.length, copyBytes);
  }
  if (step.kind === "header" || step.kind === "stand-in") yield addedLine(step);
  if (endsInNewNewline(step)) yield newline;
}

function endsInNewNewline(step: RepairStep): boolean {
  return step.kind === "terminate" || (step.kind === "recover" && step.addsNewline);
}
