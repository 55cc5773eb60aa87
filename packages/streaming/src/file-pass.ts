/** Passes over a file by its path: opened at the first pull, closed however the iteration ends. */
import { itemsOf, itemsOfSync } from "./batch-items.ts";
import type { Pass } from "./byte-pass.ts";
import { openByteSource } from "./byte-source.ts";
import { passBatches, passBatchesSync } from "./pass-driver.ts";
import type { PassOptions } from "./pass-driver.ts";

/** Makes the pass over a file of the given size. */
export type FilePass<T> = (sizeBytes: number) => Pass<T>;

/** The results of the pass over the file, blocking. */
export function filePassSync<T>(
  path: string,
  passOf: FilePass<T>,
  signal?: AbortSignal,
): Generator<T, void, undefined> {
  return itemsOfSync(fileBatchesSync(path, passOf, signal), signal);
}

/** The results of the pass over the file, without blocking. */
export function filePass<T>(
  path: string,
  passOf: FilePass<T>,
  options: PassOptions,
): AsyncGenerator<T, void, undefined> {
  return itemsOf(fileBatches(path, passOf, options), options.signal);
}

function* fileBatchesSync<T>(
  path: string,
  passOf: FilePass<T>,
  signal: AbortSignal | undefined,
): Generator<Iterable<T>, void, undefined> {
  signal?.throwIfAborted();
  const file = openByteSource(path);
  try {
    yield* passBatchesSync(file, passOf(file.sizeSync()), signal);
  } finally {
    file.closeSync();
  }
}

async function* fileBatches<T>(
  path: string,
  passOf: FilePass<T>,
  options: PassOptions,
): AsyncGenerator<Iterable<T>, void, undefined> {
  options.signal?.throwIfAborted();
  const file = openByteSource(path);
  try {
    yield* passBatches(file, passOf(file.sizeSync()), options);
  } finally {
    file.closeSync();
  }
}
