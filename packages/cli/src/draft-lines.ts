/**
 * Drafts of entries from JSON lines. Lines that arrive together form one batch, appended as one
 * write; a batch never waits for a further line.
 */
import type { AnyDraft } from "@branchlog/core/entries";
import { decodeLine, LineFramer } from "@branchlog/streaming";
import type { JsonObject } from "@branchlog/streaming";

export interface DraftLine {
  readonly line: number;
  readonly bytes: number;
  readonly draft: AnyDraft | undefined;
  readonly problem: string | undefined;
}

/** A longer line is a batch of its own. */
const batchLinesMax = 1_000;
const batchBytesMax = 1024 * 1024;
/** Leaves room below V8's longest string for the encoded entry. */
const lineBytesMax = 256 * 1024 * 1024;

/** Without blank lines. */
export async function* draftBatches(
  input: AsyncIterable<Uint8Array>,
): AsyncGenerator<readonly DraftLine[]> {
  const framer = new LineFramer({ lineBytesMax });
  let arrived: DraftLine[] = [];
  const sink = {
    line: (bytes: Buffer, start: number, end: number, _offset: number, line: number): void => {
      const read = readDraft(bytes, start, end, line);
      if (read !== undefined) arrived.push(read);
    },
    longLine: ({ length }: { readonly length: number }, line: number): void => {
      arrived.push(bad(line, length, `it has more than ${lineBytesMax} bytes`));
    },
  };
  for await (const chunk of input) {
    framer.push(Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength), sink);
    yield* batchesOf(arrived);
    arrived = [];
  }
  const rest = framer.rest();
  if (rest === null) return;
  const { bytes, lineNumber, length } = rest;
  if (bytes === null) sink.longLine({ length }, lineNumber);
  else sink.line(bytes, 0, bytes.length, rest.offset, lineNumber);
  yield* batchesOf(arrived);
}

/** The engine checks the content of a draft. */
export function parseDraft(text: string): DraftLine {
  const bytes = Buffer.from(text);
  return readDraft(bytes, 0, bytes.length, 1) ?? bad(1, 0, "it is empty");
}

/** Undefined for a blank line. */
function readDraft(bytes: Buffer, start: number, end: number, line: number): DraftLine | undefined {
  const decoded = decodeLine(bytes, start, end);
  const length = end - start;
  if (!decoded.ok) {
    return decoded.reason === "blank" ? undefined : bad(line, length, decoded.message);
  }
  if (!isDraft(decoded.value)) return bad(line, length, "it has no type");
  return { line, bytes: length, draft: decoded.value, problem: undefined };
}

function isDraft(value: JsonObject): value is JsonObject & AnyDraft {
  return typeof value["type"] === "string";
}

function bad(line: number, bytes: number, problem: string): DraftLine {
  return { line, bytes, draft: undefined, problem };
}

function* batchesOf(lines: readonly DraftLine[]): Generator<readonly DraftLine[]> {
  let batch: DraftLine[] = [];
  let bytes = 0;
  for (const line of lines) {
    const isFull = batch.length >= batchLinesMax || bytes + line.bytes > batchBytesMax;
    if (isFull && batch.length > 0) {
      yield batch;
      batch = [];
      bytes = 0;
    }
    batch.push(line);
    bytes += line.bytes;
  }
  if (batch.length > 0) yield batch;
}
