/**
 * A cache that keeps bodies longer once they are read again (2Q: Johnson, Shasha, VLDB 1994), so
 * that a pass over all bodies does not evict the working set.
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
  /** As `set`, of an entry that is expected to be read soon. */
  keep(row: number, entry: SessionEntry, lineBytes: number): void;
  readonly bytes: number;
}

const newShare = 1 / 32;
const rememberedRowsMax = 32_768;

export function createBodyCache(bytesMax: number): BodyCache {
  const wholeBytesMax = Math.min(Math.floor(bytesMax), Number.MAX_SAFE_INTEGER);
  if (!(wholeBytesMax > heapPerEntry)) return noCache;
  const newBytesMax = Math.ceil(wholeBytesMax * newShare);
  const remembered = new RecentRows();
  const kept = new LRUCache<number, SessionEntry>({ maxSize: wholeBytesMax - newBytesMax });
  const read = new LRUCache<number, SessionEntry>({
    maxSize: newBytesMax,
    dispose: (_, row, reason) => {
      if (reason === "evict") remembered.add(row);
    },
  });
  return {
    get: (row) => kept.get(row) ?? read.peek(row),
    peek: (row) => kept.peek(row) ?? read.peek(row),
    keep: (row, entry, lineBytes) => {
      kept.set(row, entry, { size: sizeOf(lineBytes) });
    },
    set: (row, entry, lineBytes) => {
      const size = sizeOf(lineBytes);
      const isReadAgain = remembered.delete(row) || size > newBytesMax;
      const [target, other] = isReadAgain ? [kept, read] : [read, kept];
      other.delete(row);
      target.set(row, entry, { size });
    },
    get bytes() {
      return kept.calculatedSize + read.calculatedSize;
    },
  };
}

function sizeOf(lineBytes: number): number {
  return Math.ceil(lineBytes * heapPerLineByte) + heapPerEntry;
}

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
