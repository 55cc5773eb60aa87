/**
 * Bodies of recently read entries, bounded in bytes. The size of a body is that of its line, times
 * a factor measured for what V8 needs to hold a parsed message. The only importer of lru-cache.
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

/** A cache that holds at most `bytesMax` estimated bytes; 0 keeps nothing. */
export function createBodyCache(bytesMax: number): BodyCache {
  if (bytesMax <= 0) return noCache;
  const cache = new LRUCache<number, SessionEntry>({ maxSize: bytesMax });
  return {
    get: (row) => cache.get(row),
    peek: (row) => cache.peek(row),
    set: (row, entry, lineBytes) => {
      cache.set(row, entry, { size: Math.ceil(lineBytes * heapPerLineByte) + heapPerEntry });
    },
    clear: () => cache.clear(),
    get bytes() {
      return cache.calculatedSize;
    },
  };
}

const noCache: BodyCache = {
  get: () => undefined,
  peek: () => undefined,
  set: () => undefined,
  clear: () => undefined,
  bytes: 0,
};
