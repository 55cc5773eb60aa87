/**
 * Recognises the transcript of another agent by its first records, so that it is not treated as a
 * damaged session.
 */
import { statSync } from "node:fs";
import {
  decodeLine,
  LineFramer,
  openByteSource,
  readRange,
  readShallow,
  runSync,
  scan,
} from "@branchlog/streaming";
import type { ByteSource, DecodedLine, JsonObject, LineSink } from "@branchlog/streaming";
import {
  copyAdvice,
  documentFormatOf,
  presumedRecord,
  transcriptFormats,
} from "../dialects/agent.ts";
import type { SessionOwner, TranscriptFormat } from "../dialects/agent.ts";
import { isOfSession } from "../dialects/log-record.ts";
import { beginningOf } from "../dialects/object-members.ts";
import { BranchlogError } from "../errors.ts";
import { headBytesMax, headLinesMax } from "../limits.ts";

const headChunkBytes = 64 * 1024;

/** The first bytes of a file of SQLite, whose texts may be records of agents. */
const databaseMark = Buffer.from("SQLite format 3\0");

/**
 * Undefined if no first line is known, or the first known one is of a session. Torn lines count, so
 * that nothing replaces or removes the transcript or session that they begin.
 */
export function transcriptFormat(source: ByteSource, size: number): TranscriptFormat | undefined {
  return firstOwner(source, size, true);
}

/** As the index: by the first whole record that is known. */
export function readableFormat(source: ByteSource, size: number): TranscriptFormat | undefined {
  return firstOwner(source, size, false);
}

function firstOwner(
  source: ByteSource,
  size: number,
  takesTorn: boolean,
): TranscriptFormat | undefined {
  let owner: TranscriptFormat | "session" | undefined;
  let isDatabase = false;
  const take = (line: DecodedLine, head: Buffer): void => {
    isDatabase ||= head.subarray(0, databaseMark.length).equals(databaseMark);
    if (isDatabase) return;
    const whole = line.ok ? line.value : undefined;
    if (whole === undefined && !takesTorn) return;
    const beginning = whole ?? beginningOf(head);
    const asOf = (format?: TranscriptFormat): JsonObject =>
      whole ?? presumedRecord(beginning, format);
    owner ??= isOfSession(asOf())
      ? "session"
      : transcriptFormats().find((format) => format.recognises(asOf(format)));
  };
  const sink: LineSink = {
    line: (bytes, start, end) => {
      if (owner === undefined) take(decodeLine(bytes, start, end), bytes.subarray(start, end));
    },
    longLine: ({ offset, length, head }) => {
      if (owner !== undefined) return;
      take(readShallow(readRange(source, offset, length), { open: ["message", "payload"] }), head);
    },
  };
  const framer = new LineFramer({ lineBytesMax: headBytesMax });
  const isOver = (): boolean =>
    owner !== undefined ||
    framer.committedOffset >= headBytesMax ||
    framer.lineNumber > headLinesMax ||
    framer.offset >= size;
  while (!isOver()) {
    const from = framer.offset;
    const range = { from, to: Math.min(size, from + headChunkBytes), chunkBytes: headChunkBytes };
    if (runSync(scan(source, framer, sink, range)) === 0) break;
  }
  const rest = framer.rest();
  if (rest?.bytes) sink.line(rest.bytes, 0, rest.bytes.length, rest.offset, rest.lineNumber);
  if (rest?.long) sink.longLine(rest.long, rest.lineNumber);
  return owner === "session" ? undefined : owner;
}

/** Also for a document. */
export function requireNoTranscript(path: string, source: ByteSource, size: number): void {
  const error = foreignError(path, source, size);
  if (error !== undefined) throw error;
}

/** Also for the address of a session in a database. */
export function transcriptErrorAt(path: string, advice?: string): BranchlogError | undefined {
  const document = documentFormatOf(path);
  if (document !== undefined) return ownedError(path, document, advice);
  try {
    // Opening a pipe waits for its writer.
    if (!statSync(path).isFile()) return undefined;
    const source = openByteSource(path);
    try {
      return foreignError(path, source, source.sizeSync(), advice);
    } finally {
      source.closeSync();
    }
  } catch {
    return undefined;
  }
}

function foreignError(
  path: string,
  source: ByteSource,
  size: number,
  advice?: string,
): BranchlogError | undefined {
  return ownedError(path, transcriptFormat(source, size) ?? documentFormatOf(path), advice);
}

function ownedError(
  path: string,
  owner: SessionOwner | undefined,
  advice = copyAdvice,
): BranchlogError | undefined {
  if (owner === undefined) return undefined;
  const what = `${path} is ${owner.noun}, not a session of pi or omp`;
  const message = `${what}. It was not changed. ${advice}`;
  return new BranchlogError("ERR_NOT_A_SESSION", message, { path });
}
