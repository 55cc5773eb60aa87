/**
 * A cache that keeps bodies longer once they are read again (2Q: Johnson, Shasha, VLDB 1994), so
 * that a pass over all bodies does not evict the working set. The latest bodies that this process
 * appended are kept in the space that is left: adding one costs an append next to nothing.
 */
import { LRUCache } from "lru-cache";
import type { SessionEntry } from "../entries/entry-types.ts";

/** Heap bytes per line byte: parsed text is as long as its line, objects around it cost more. */
const heapPerLineByte = 1.5;
const heapPerEntry = 400;

export interface BodyCache {
  get(row: number): SessionEntry | undefined;
  /** As `get`, without counting as a use. */
  peek(row: number): SessionEntry | undefined;
  set(row: number, entry: SessionEntry, lineBytes: number): void;
  /** As `set`, of an appended entry; rows ascend. */
  keep(row: number, entry: SessionEntry, lineBytes: number): void;
  readonly bytes: number;
}

const newShare = 1 / 32;
const appendedShareMax = 1 / 2;
const rememberedRowsMax = 32_768;

export function createBodyCache(bytesMax: number): BodyCache {
  const wholeBytesMax = Math.min(Math.floor(bytesMax), Number.MAX_SAFE_INTEGER);
  if (!(wholeBytesMax > heapPerEntry)) return noCache;
  const newBytesMax = Math.ceil(wholeBytesMax * newShare);
  const appendedBytesMax = Math.floor(wholeBytesMax * appendedShareMax);
  const remembered = new RecentRows();
  const appended = new AppendedBodies();
  const keptBytesMax = wholeBytesMax - newBytesMax;
  const kept = new LRUCache<number, SessionEntry>({ maxSize: keptBytesMax });
  const read = new LRUCache<number, SessionEntry>({
    maxSize: newBytesMax,
    dispose: (_, row, reason) => {
      if (reason === "evict") remembered.add(row);
    },
  });
  return {
    get: (row) => appended.at(row) ?? kept.get(row) ?? read.peek(row),
    peek: (row) => appended.at(row) ?? kept.peek(row) ?? read.peek(row),
    keep: (row, entry, lineBytes) => {
      appended.add(row, entry, sizeOf(lineBytes));
      appended.limitTo(Math.min(appendedBytesMax, keptBytesMax - kept.calculatedSize));
    },
    set: (row, entry, lineBytes) => {
      const size = sizeOf(lineBytes);
      const isReadAgain = remembered.delete(row) || size > newBytesMax;
      const [target, other] = isReadAgain ? [kept, read] : [read, kept];
      other.delete(row);
      target.set(row, entry, { size });
      appended.limitTo(keptBytesMax - kept.calculatedSize);
    },
    get bytes() {
      return appended.bytes + kept.calculatedSize + read.calculatedSize;
    },
  };
}

function sizeOf(lineBytes: number): number {
  return Math.ceil(lineBytes * heapPerLineByte) + heapPerEntry;
}

/** Of ascending rows, with gaps for those of other writers. */
class AppendedBodies {
  #firstRow = 0;
  #entries: (SessionEntry | undefined)[] = [];
  #sizes: number[] = [];
  #bytes = 0;

  get bytes(): number {
    return this.#bytes;
  }

  at(row: number): SessionEntry | undefined {
    return row < this.#firstRow ? undefined : this.#entries[row - this.#firstRow];
  }

  add(row: number, entry: SessionEntry, size: number): void {
    const gap = row - this.#firstRow - this.#entries.length;
    if (gap < 0 || gap > gapRowsMax) this.#restartAt(row);
    else for (let skipped = 0; skipped < gap; skipped += 1) this.#push(undefined, bytesPerGap);
    this.#push(entry, size);
  }

  /** Drops the oldest, some at a time, so that each append moves few. */
  limitTo(bytesMax: number): void {
    if (this.#bytes <= bytesMax) return;
    const bytesLeftMax = bytesMax * (1 - droppedShare);
    let dropped = 0;
    for (const size of this.#sizes) {
      if (this.#bytes <= bytesLeftMax) break;
      this.#bytes -= size;
      dropped += 1;
    }
    this.#entries.splice(0, dropped);
    this.#sizes.splice(0, dropped);
    this.#firstRow += dropped;
  }

  #push(entry: SessionEntry | undefined, size: number): void {
    this.#entries.push(entry);
    this.#sizes.push(size);
    this.#bytes += size;
  }

  #restartAt(row: number): void {
    this.#firstRow = row;
    this.#entries = [];
    this.#sizes = [];
    this.#bytes = 0;
  }
}

/** After a longer run of other writers' rows, it restarts. */
const gapRowsMax = 1_024;
const bytesPerGap = 16;
const droppedShare = 1 / 8;

class RecentRows {
  readonly #rows = new Set<number>();
  readonly #order: number[] = [];
  #next = 0;

  add(row: number): void {
    const oldest = this.#order[this.#next];
    if (oldest !== undefined) this.#rows.delete(oldest);
    this.#order[this.#next] = row;
    this.#rows.add(row);
    this.#next = (this.#next + 1) % rememberedRowsMax;
  }

  delete(row: number): boolean {
    return this.#rows.delete(row);
  }
}

const noCache: BodyCache = {
  get: () => undefined,
  peek: () => undefined,
  set: () => undefined,
  keep: () => undefined,
  bytes: 0,
};
