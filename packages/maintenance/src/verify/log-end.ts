/**
 * What is behind the last newline of a log: nothing that counts, a line that a process may still be
 * writing, or damage. Only a record that was cut off, in a file that changed just now, may become
 * whole: no writer begins a record with NUL bytes, or with anything else that is no JSON.
 */
import { decodeLine, lineKind, readRange, readShallow } from "@branchlog/streaming";
import type { ByteSource, LineKind, LineRest } from "@branchlog/streaming";
import type { Clock } from "@branchlog/core/types";
import type { FileStat } from "@branchlog/core/internal";
import { writingMsMax } from "../limits.ts";
import type { FindingKind } from "./finding.ts";

/** `fragment`: it may still be being written. */
export type EndKind = LineKind | "fragment";

/**
 * The kind of the end of a log. Reads an end that was too long to join.
 * @param mayGrow Whether the file changed just now.
 */
export function endKind(rest: LineRest, source: ByteSource, mayGrow: boolean): EndKind {
  const { bytes, offset, length } = rest;
  const pieces = (): Iterable<Buffer> =>
    bytes === null ? readRange(source, offset, length) : [bytes];
  const decoded = bytes === null ? readShallow(pieces(), {}) : decodeLine(bytes);
  const kind = lineKind(decoded, pieces);
  return kind === "torn" && mayGrow ? "fragment" : kind;
}

/** What the end of a log is called; undefined if it is as it should be. */
export function endFinding(kind: EndKind): FindingKind | undefined {
  if (kind === "blank") return undefined;
  if (kind === "record") return "unfinished-record";
  return kind === "fragment" ? "unfinished-line" : kind;
}

/** Whether a process may still be writing to a file: if it changed just now, or in the future. */
export function mayBeWritten(stat: FileStat | null, clock: Clock): boolean {
  return stat !== null && clock.now() - stat.mtimeMs < writingMsMax;
}
