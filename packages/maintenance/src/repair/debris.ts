/** What bytes that are no record were, as far as they show it. Pure. */
import { decodeLine } from "@branchlog/streaming";
import { debrisEdgeBytes } from "./limits.ts";
import { byteAt, skipSpace } from "./line-bytes.ts";
import type { LineBytes } from "./line-bytes.ts";
import { bytesBetween } from "./line-parts.ts";
import { ObjectScanner } from "./object-scanner.ts";
import type { Span } from "./object-scanner.ts";
import type { SetAsideReason } from "./repair-plan.ts";

/** The first and the last bytes of a part of a line. */
export interface Edges {
  readonly head: Buffer;
  readonly tail: Buffer;
}

/** The ends of the debris, in which it shows what it was. */
export function edgesOf(line: LineBytes, { start, end }: Span): Edges {
  return {
    head: line.slice(start, Math.min(end, start + debrisEdgeBytes)),
    tail: line.slice(Math.max(start, end - debrisEdgeBytes), end),
  };
}

/** Why the bytes are no record. Linear. */
export function reasonOf(line: LineBytes, { start, end }: Span): SetAsideReason {
  for (const bytes of bytesBetween(line, start, end)) if (bytes.includes(0)) return "nul-bytes";
  const content = skipSpace(line, start);
  if (byteAt(line, content) === openBrace) {
    return isCutOff(line, { start: content, end }) ? "torn" : "not-json";
  }
  if (end - start > debrisEdgeBytes) return "not-json";
  const decoded = decodeLine(line.slice(start, end));
  return !decoded.ok && decoded.reason === "not-object" ? "not-object" : "not-json";
}

const [openBrace, carriageReturn] = [0x7b, 0x0d];

/** Whether the bytes are the beginning of an object, a line end aside. */
function isCutOff(line: LineBytes, { start, end }: Span): boolean {
  const last = byteAt(line, end - 1) === carriageReturn ? end - 1 : end;
  const scanner = new ObjectScanner();
  scanner.begin();
  let at = start;
  for (const bytes of bytesBetween(line, start, last)) {
    at += scanner.push(bytes, 0, bytes.length, at);
  }
  return scanner.status === "open";
}
