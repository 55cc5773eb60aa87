/**
 * One path of a session as the lines of a log of its own: the header and every entry of the path
 * once, with their bytes. Only links change, and only where an entry was left out between two; the
 * context at the end is that of the source. Read and handed on in bounded memory.
 */
import { lineChunks, rowLines } from "../bodies/row-lines.ts";
import type { LineSource, RowLine } from "../bodies/row-lines.ts";
import { relinkLine } from "../dialects/relink-line.ts";
import { encodeTitleSlot } from "../dialects/title-slot.ts";
import type { Engine } from "../session/engine.ts";
import { headerInCurrentForm } from "../session/migrated-bytes.ts";
import { LargeChunks } from "../store/large-chunks.ts";
import type { ExportedPath } from "./exported-path.ts";

const newline = Buffer.from("\n");

/** The bytes of the log. Damaged entries are left out. */
export async function* linearLines(
  engine: Engine,
  { rows, carried }: ExportedPath,
  signal: AbortSignal | undefined,
): AsyncGenerator<Buffer, void, undefined> {
  const { path, settings, index } = engine;
  const { file, indexer, bodies } = engine.log.state;
  const { lineBytesMax } = settings;
  const source: LineSource = { path, bytes: file, indexer, bodies, lineBytesMax };
  const { titleSlot } = engine.log.state;
  if (titleSlot !== undefined) yield encodeTitleSlot(titleSlot);
  yield headerInCurrentForm(file, engine.log.state);
  yield newline;
  let parentId: string | null = null;
  for (const part of [rows, carried]) {
    for await (const line of rowLines(source, part, signal)) {
      const isLinked = index.parentIdOf(line.row) === parentId;
      yield* isLinked ? asItIs(source, line, signal) : relinked(source, line, parentId, signal);
      yield newline;
      parentId = index.idOf(line.row);
    }
  }
}

async function* asItIs(
  source: LineSource,
  { row, bytes }: RowLine,
  signal: AbortSignal | undefined,
): AsyncGenerator<Buffer> {
  if (bytes === null) yield* lineChunks(source, row, signal);
  else yield bytes;
}

/** A long line is held whole for this; as a rule it is the first of a path that breaks off. */
async function* relinked(
  source: LineSource,
  line: RowLine,
  parentId: string | null,
  signal: AbortSignal | undefined,
): AsyncGenerator<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of asItIs(source, line, signal)) chunks.push(chunk);
  yield relinkLine(Buffer.concat(chunks), { parentId });
}

/** The same bytes in few large pieces. */
export async function* inLargePieces(pieces: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  const chunks = new LargeChunks();
  for await (const piece of pieces) yield* chunks.add(piece);
  yield* chunks.rest();
}
