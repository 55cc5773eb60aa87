/** The salvage file: a JSON line for each piece removed by a repair, exactly restorable. */
import { isUtf8 } from "node:buffer";
import { readRange } from "@branchlog/streaming";
import type { ByteSource } from "@branchlog/streaming";
import { salvagedBytesMax } from "../limits.ts";
import { wholeCharacters } from "./whole-characters.ts";
import type { RepairStep, SetAsideReason, SetAsideStep } from "./repair-plan.ts";

/** Fewer NUL bytes than these belong to the text around them, which may be UTF-16. */
const nulRun = Buffer.alloc(16);

/** One line of a salvage file. Exactly one of `text`, `nuls` and `base64` is there. */
export interface SalvageLine {
  readonly offset: number;
  readonly length: number;
  /** 1-based line of the log before its repair. */
  readonly line: number;
  readonly reason: SetAsideReason;
  /** The entry that it was, if known. */
  readonly id?: string;
  /** The bytes as UTF-8, if they are. */
  readonly text?: string;
  readonly nuls?: number;
  readonly base64?: string;
}

export function* salvageLines(
  steps: readonly RepairStep[],
  source: ByteSource,
): Generator<Buffer, void, undefined> {
  for (const step of steps) {
    if (step.kind !== "set-aside") continue;
    let { offset } = step;
    const pieces = wholeCharacters(readRange(source, offset, step.length, salvagedBytesMax));
    for (const bytes of withoutNulRuns(pieces)) {
      yield Buffer.from(`${JSON.stringify(salvageLine(step, bytes, offset))}\n`);
      offset += bytes.length;
    }
  }
}

export function salvagedBytes({ text, nuls, base64 }: SalvageLine): Buffer {
  if (text !== undefined) return Buffer.from(text);
  return nuls === undefined ? Buffer.from(base64 ?? "", "base64") : Buffer.alloc(nuls);
}

function salvageLine(
  { line, reason, id }: SetAsideStep,
  bytes: Buffer,
  offset: number,
): SalvageLine {
  const place = { offset, length: bytes.length, line, reason, ...(id === null ? {} : { id }) };
  if (bytes.every((byte) => byte === 0)) return { ...place, nuls: bytes.length };
  const isText = isUtf8(bytes) && !bytes.includes(0);
  return isText
    ? { ...place, text: bytes.toString() }
    : { ...place, base64: bytes.toString("base64") };
}

/** Separates long runs of NUL bytes, so that the text around them stays text. */
function* withoutNulRuns(pieces: Iterable<Buffer>): Generator<Buffer> {
  for (const bytes of pieces) {
    let start = 0;
    for (let at = bytes.indexOf(nulRun); at >= 0; at = bytes.indexOf(nulRun, start)) {
      if (at > start) yield bytes.subarray(start, at);
      let end = at + nulRun.length;
      while (bytes[end] === 0) end += 1;
      yield bytes.subarray(at, end);
      start = end;
    }
    if (start < bytes.length) yield bytes.subarray(start);
  }
}
