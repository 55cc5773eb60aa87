/**
 * Bodies of recently read entries, bounded in bytes. Who goes through all bodies once leaves no
 * trace: what is read the first time is kept for a moment only, and for longer when it is read
 * again (2Q: Johnson, Shasha, VLDB 1994). So those bodies die young, and a gigabyte of them costs
 * little memory. The size of a body is that of its line, times a factor measured for what V8 needs
 * to hold a parsed message. The only importer of lru-cache.
 */
import { LRUCache } from "lru-cache";
import type { SessionEntry } from "../entries/entry-types.ts";

/** Heap bytes per line byte: parsed text is as long as its line, objects around it cost more. */
const heapPerLineByte = 1.5;
const heapPerEntry = 400;

/** What a cache of bodies can do; keys are row numbers of one generation. */
export interface BodyCache {
  get(row: number): SessionEntry | undefined;
  /** As `get`, without counting as a use: for passes over many bodies. */
  peek(row: number): SessionEntry | undefined;
  /** Keeps the body; one that is larger than the whole cache is not kept. */
  set(row: number, entry: SessionEntry, lineBytes: number): void;
  clear(): void;
  /** Estimated heap bytes held. */
  readonly bytes: number;
}

/** How much of the cache is for what was read once. */
const newShare = 1 / 32;
/** How many bodies are remembered as having been read before, without being kept. */
const rememberedRowsMax = 32_768;

/** A cache that holds at most `bytesMax` estimated bytes; too few for any body keep none. */
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
    set: (row, entry, lineBytes) => {
      const size = Math.ceil(lineBytes * heapPerLineByte) + heapPerEntry;
      const isReadAgain = remembered.delete(row) || size > newBytesMax;
      const [target, other] = isReadAgain ? [kept, read] : [read, kept];
      other.delete(row);
      target.set(row, entry, { size });
    },
    clear: () => {
      for (const part of [kept, read, remembered]) part.clear();
    },
    get bytes() {
      return kept.calculatedSize + read.calculatedSize;
    },
  };
}

/** The rows that were added last. */
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

  /** Whether it was there. */
  delete(row: number): boolean {
    return this.#rows.delete(row);
  }

  clear(): void {
    this.#rows.clear();
    this.#order.length = 0;
    this.#next = 0;
  }
}

const noCache: BodyCache = {
  get: () => undefined,
  peek: () => undefined,
  set: () => undefined,
  clear: () => undefined,
  bytes: 0,
};
