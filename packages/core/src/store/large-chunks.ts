/** Gathers pieces of bytes into few large ones: each costs a write. Large ones are not copied. */

const gatheredBytes = 1024 * 1024;

/** See the file comment. What it has is handed out in order. */
class LargeChunks {
  #pieces: Buffer[] = [];
  #bytes = 0;

  /** Takes a piece, and hands out what is large enough now. */
  add(piece: Buffer): readonly Buffer[] {
    this.#pieces.push(piece);
    this.#bytes += piece.length;
    return this.#bytes < gatheredBytes ? [] : this.#take(piece.length >= gatheredBytes);
  }

  /** Hands out the rest. */
  rest(): readonly Buffer[] {
    return this.#bytes === 0 ? [] : this.#take(false);
  }

  #take(asTheyAre: boolean): readonly Buffer[] {
    const pieces = this.#pieces;
    this.#pieces = [];
    this.#bytes = 0;
    return asTheyAre ? pieces : [Buffer.concat(pieces)];
  }
}

/** The same bytes in few large chunks. */
export function* inLargeChunks(pieces: Iterable<Buffer>): Generator<Buffer> {
  const chunks = new LargeChunks();
  for (const piece of pieces) yield* chunks.add(piece);
  yield* chunks.rest();
}

/** As {@link inLargeChunks}, of pieces that are waited for. */
export async function* inLargeChunksAsync(pieces: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  const chunks = new LargeChunks();
  for await (const piece of pieces) yield* chunks.add(piece);
  yield* chunks.rest();
}
