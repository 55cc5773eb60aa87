/**
 * From the steps of a plan to bytes: brings what was decided about a whole log into the steps that
 * its lines gave, and makes of them the bytes of the repaired log. Linear; memory is bounded by the
 * chunk, however long a line is.
 */
import { readRangeAsync } from "@branchlog/streaming";
import type { ByteSource } from "@branchlog/streaming";
import { encodeDraft, encodeHeader, spliceDraft } from "@branchlog/core/internal";
import { copyBytes } from "../limits.ts";
import type { HeaderStep, KeepStep, RecoverStep, RepairStep, StandInStep } from "./repair-plan.ts";

const newline = Buffer.from("\n");
const nothing = Buffer.alloc(0);
/** The `customType` of stand-ins. */
const standInType = "branchlog.lost";

/** The steps, with those at the given positions set aside as repeated records. */
export function withoutRepetitions(
  steps: readonly RepairStep[],
  repeated: ReadonlySet<number>,
): readonly RepairStep[] {
  if (repeated.size === 0) return steps;
  return steps.map((step, i) => {
    if (step.kind !== "recover" || !repeated.has(i)) return step;
    const { offset, length, line, id } = step;
    return { kind: "set-aside", offset, length, line, reason: "repeated", id };
  });
}

/** The steps, with lines added between them. @param additions In the order of their offsets. */
export function withAdditions(
  steps: readonly RepairStep[],
  additions: readonly (HeaderStep | StandInStep)[],
): readonly RepairStep[] {
  if (additions.length === 0) return steps;
  const result: RepairStep[] = [];
  let next = 0;
  for (const step of steps) {
    let rest: RepairStep = step;
    for (let add = additions[next]; add !== undefined; add = additions[next]) {
      const inside = add.offset - rest.offset;
      if (inside > 0) {
        if (rest.kind !== "keep" || inside >= rest.length) break;
        const [before, behind] = split(rest, inside);
        result.push(before);
        rest = behind;
      }
      result.push(add);
      next += 1;
    }
    result.push(rest);
  }
  return result;
}

function split({ kind, offset, length }: KeepStep, at: number): readonly [KeepStep, KeepStep] {
  return [
    { kind, offset, length: at },
    { kind, offset: offset + at, length: length - at },
  ];
}

/** Length of the log that the steps make. */
export function repairedBytes(steps: readonly RepairStep[]): number {
  let bytes = 0;
  for (const step of steps) bytes += (isCopied(step) ? step.length : 0) + addedBytes(step).length;
  return bytes;
}

/**
 * The bytes of the repaired log: copied, never written anew, but for the lines that are added. They
 * come in chunks of at least `copyBytes`, but the last one. Throws what reading throws.
 */
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
  if (isCopied(step)) yield* readRangeAsync(source, step.offset, step.length, copyBytes);
  yield addedBytes(step);
}

/** Whether a step takes its bytes from the log. */
function isCopied(step: RepairStep): step is KeepStep | RecoverStep {
  return step.kind === "keep" || step.kind === "recover";
}

/** What a step adds, behind what it copies. */
export function addedBytes(step: RepairStep): Buffer {
  switch (step.kind) {
    case "keep":
    case "set-aside":
      return nothing;
    case "recover":
      return step.addsNewline ? newline : nothing;
    case "terminate":
      return newline;
    case "header":
      return encodeHeader(step.header);
    case "stand-in": {
      const { id, parentId, timestamp, source } = step;
      const draft = { type: "custom", customType: standInType, data: { parentFrom: source } };
      return spliceDraft(encodeDraft(draft, timestamp), id, parentId);
    }
  }
}
