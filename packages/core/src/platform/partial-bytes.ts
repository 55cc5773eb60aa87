/**
 * Bytes that are fetched when they are read, and then kept in an unnamed file, so that each is
 * fetched once.
 */
import { quietly } from "./ports.ts";
import { UnnamedFile } from "./unnamed-file.ts";

/** Bytes that begin at `at`, piece by piece. */
export interface BytesAt {
  readonly at: number;
  readonly pieces: readonly Buffer[];
}

/** Gives at least the bytes `[from, to)`. */
export interface PartReader {
  read(from: number, to: number): Promise<BytesAt>;
  readSync(from: number, to: number): BytesAt;
}

/** For sequential readers: fewer round trips. */
const nextBytes = 4 * 1024 * 1024;

export class PartialBytes {
  readonly length: number;
  readonly #reader: PartReader;
  readonly #file: UnnamedFile;
  readonly #kept = new KeptRanges();
  /** Where the part that was read last ends. */
  #next = 0;

  /** Throws errors of the file system. */
  constructor(length: number, reader: PartReader) {
    this.length = length;
    this.#reader = reader;
    this.#file = new UnnamedFile(length);
  }

  /** Fills `target`. Throws what the reader throws. */
  readSync(target: Buffer, position: number): void {
    if (this.#copied(target, position)) return;
    this.#take(this.#reader.readSync(...this.#wanted(target, position)), target, position);
  }

  /** As {@link PartialBytes.readSync}. */
  async read(target: Buffer, position: number): Promise<void> {
    if (this.#copied(target, position)) return;
    this.#take(await this.#reader.read(...this.#wanted(target, position)), target, position);
  }

  #wanted(target: Buffer, position: number): readonly [from: number, to: number] {
    const end = position + target.length;
    const readsOn = position > 0 && position <= this.#next && end > this.#next;
    return [position, readsOn ? Math.min(this.length, Math.max(end, position + nextBytes)) : end];
  }

  #copied(target: Buffer, position: number): boolean {
    if (!this.#kept.has(position, position + target.length)) return false;
    return this.#file.copyTo(target, 0, target.length, position) === target.length;
  }

  /** On a full disk they are asked for again. */
  #take({ at, pieces }: BytesAt, target: Buffer, position: number): void {
    let from = at;
    let filled = 0;
    for (const piece of pieces) {
      const kept = piece.subarray(0, Math.max(0, this.length - from));
      quietly(() => {
        this.#file.overwrite(kept, from);
        this.#kept.add(from, from + kept.length);
      });
      const start = Math.max(0, position - from);
      const end = Math.min(piece.length, position + target.length - from);
      if (start < end) filled += piece.copy(target, from + start - position, start, end);
      from += piece.length;
    }
    this.#next = from;
    if (filled < target.length) throw new RangeError("a part of a log lacks bytes");
  }
}

interface Range {
  readonly from: number;
  readonly to: number;
}

/** Ranges that neither overlap nor touch, in order. */
class KeptRanges {
  readonly #ranges: Range[] = [];

  has(from: number, to: number): boolean {
    const range = this.#ranges[this.#firstEndingFrom(from + 1)];
    return range !== undefined && range.from <= from && range.to >= to;
  }

  add(from: number, to: number): void {
    const first = this.#firstEndingFrom(from);
    let after = first;
    let [low, high] = [from, to];
    for (let range = this.#ranges[after]; range !== undefined && range.from <= to;) {
      [low, high] = [Math.min(low, range.from), Math.max(high, range.to)];
      range = this.#ranges[(after += 1)];
    }
    this.#ranges.splice(first, after - first, { from: low, to: high });
  }

  #firstEndingFrom(at: number): number {
    let [low, high] = [0, this.#ranges.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#ranges[middle]?.to ?? 0) < at) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
