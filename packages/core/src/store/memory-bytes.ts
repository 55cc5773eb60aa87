/**
 * Bytes that grow at the end: the content of a file in memory. Appending n bytes costs O(n)
 * amortised whatever is there already, since what was stored is copied at most once.
 */

const chunkBytes = 64 * 1024;
const firstChunkBytes = 256;

/** The content of one file. Only the bytes below `length` exist. */
export class MemoryBytes {
  readonly #chunks: Buffer[] = [];
  #length = 0;

  /** Bytes stored. */
  get length(): number {
    return this.#length;
  }

  /** Copies `source[offset, offset + length)` to the end. */
  append(source: Buffer, offset: number, length: number): void {
    let done = 0;
    while (done < length) {
      const start = this.#length % chunkBytes;
      const chunk = this.#chunkWithRoom(Math.min(start + length - done, chunkBytes));
      const count = Math.min(length - done, chunk.length - start);
      source.copy(chunk, start, offset + done, offset + done + count);
      this.#length += count;
      done += count;
    }
  }

  /** Copies up to `length` bytes from `position` into `target`; returns how many there were. */
  copyTo(target: Buffer, offset: number, length: number, position: number): number {
    const total = Math.max(0, Math.min(length, this.#length - position));
    let done = 0;
    while (done < total) {
      const start = (position + done) % chunkBytes;
      const chunk = this.#chunks[Math.floor((position + done) / chunkBytes)];
      if (chunk === undefined) break;
      const end = Math.min(start + total - done, chunkBytes);
      done += chunk.copy(target, offset + done, start, end);
    }
    return total;
  }

  /** Puts bytes in the place of those at `position`, and behind the last one where they go on. */
  overwrite(source: Buffer, position: number): void {
    if (position > this.#length) throw new RangeError("a gap in a file");
    let done = 0;
    while (done < source.length && position + done < this.#length) {
      const start = (position + done) % chunkBytes;
      const chunk = this.#chunks[Math.floor((position + done) / chunkBytes)];
      if (chunk === undefined) break;
      const end = Math.min(chunk.length, start + this.#length - position - done);
      done += source.copy(chunk, start, done, done + end - start);
    }
    this.append(source, done, source.length - done);
  }

  /** Drops everything. */
  clear(): void {
    this.#chunks.length = 0;
    this.#length = 0;
  }

  /** The chunk that the next byte goes to, at least `size` bytes long. Only the first one grows. */
  #chunkWithRoom(size: number): Buffer {
    const index = Math.floor(this.#length / chunkBytes);
    const old = this.#chunks[index];
    if (old !== undefined && old.length >= size) return old;
    const doubled = Math.max(firstChunkBytes, (old?.length ?? 0) * 2, size);
    const chunk = Buffer.alloc(index === 0 ? Math.min(doubled, chunkBytes) : chunkBytes);
    old?.copy(chunk);
    this.#chunks[index] = chunk;
    return chunk;
  }
}
