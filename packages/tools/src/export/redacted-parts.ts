/** The parts of an export, without their secrets. */
import { isUtf8 } from "node:buffer";
import type { SessionEntry, SessionHeader } from "@branchlog/core";
import type { Redactor } from "../redaction/redactor.ts";

/** Nothing is passed on before the first pass has read everything. */
export async function* inTwoPasses<T>(
  redactor: Redactor,
  pieces: () => AsyncIterable<T>,
): AsyncGenerator<T, void, undefined> {
  for await (const _ of pieces()) continue;
  redactor.endLearning();
  yield* pieces();
}

export function redactedHeader(redactor: Redactor, header: SessionHeader): SessionHeader {
  // Decoding boundary: the same header, of which only strings may differ.
  return JSON.parse(redactor.json(JSON.stringify(header))) as SessionHeader;
}

/** And its line, which may hold more digits. */
export function redactedEntry(
  redactor: Redactor,
  entry: SessionEntry,
  line: string,
): readonly [SessionEntry, string] {
  const clean = redactor.json(JSON.stringify(entry));
  // Decoding boundary: as above.
  return [JSON.parse(clean) as SessionEntry, line === "" ? "" : redactor.jsonAgain(line)];
}

const newline = 0x0a;

/** A line is held whole. @param pieces Bytes of a log, cut anywhere. */
export async function* redactedLines(
  redactor: Redactor,
  pieces: AsyncIterable<Buffer>,
): AsyncGenerator<Buffer, void, undefined> {
  let held: Buffer[] = [];
  for await (const piece of pieces) {
    let at = 0;
    for (let end = piece.indexOf(newline); end >= 0; end = piece.indexOf(newline, at)) {
      held.push(piece.subarray(at, end));
      yield redactedLine(redactor, Buffer.concat(held));
      held = [];
      at = end + 1;
    }
    if (at < piece.length) held.push(Buffer.from(piece.subarray(at)));
  }
  if (held.length > 0) redactor.fail("its last line has no newline");
}

function redactedLine(redactor: Redactor, line: Buffer): Buffer {
  if (!isUtf8(line)) redactor.fail("a line is not UTF-8");
  return Buffer.from(`${redactor.json(line.toString())}\n`);
}
