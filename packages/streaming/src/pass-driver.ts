/** Runs reading generators: the one place where synchronous and asynchronous reading differ. */
import { itemsOf, itemsOfSync } from "./batch-items.ts";
import type { FoundStep, Pass, Reads, ReadStep } from "./byte-pass.ts";
import type { ByteSource } from "./byte-source.ts";

/** How a pass is driven. */
export interface PassOptions {
  /** Ends it before the next read and before the next result: it throws the reason. */
  readonly signal?: AbortSignal | undefined;
  /** Reads ahead, one read at most, while results are consumed. Default false. */
  readonly readsAhead?: boolean;
}

/** The result of the reads, blocking. */
export function runReadsSync<R>(source: ByteSource, reads: Reads<R>): R {
  let step = reads.next(0);
  while (step.done !== true) step = reads.next(answerSync(source, step.value));
  return step.value;
}

/** The result of the reads, without blocking. */
export async function runReads<R>(source: ByteSource, reads: Reads<R>): Promise<R> {
  let step = reads.next(0);
  while (step.done !== true) step = reads.next(await answer(source, step.value));
  return step.value;
}

/** The results of a pass, blocking. Reads no further than is pulled. */
export function runPassSync<T>(
  source: ByteSource,
  pass: Pass<T>,
  signal?: AbortSignal,
): Generator<T, void, undefined> {
  return itemsOfSync(passBatchesSync(source, pass, signal), signal);
}

/**
 * The results of a pass, without blocking. No read is in flight once it has ended, however it ends.
 */
export function runPass<T>(
  source: ByteSource,
  pass: Pass<T>,
  options: PassOptions = {},
): AsyncGenerator<T, void, undefined> {
  return itemsOf(passBatches(source, pass, options), options.signal);
}

/** The results of a pass, read by read, blocking. Each batch must be consumed before the next. */
export function* passBatchesSync<T>(
  source: ByteSource,
  pass: Pass<T>,
  signal?: AbortSignal,
): Generator<Iterable<T>, void, undefined> {
  let step = pass.next(0);
  while (step.done !== true) {
    signal?.throwIfAborted();
    if (isRead(step.value)) {
      step = pass.next(answerSync(source, step.value));
    } else {
      yield step.value.found;
      step = pass.next(0);
    }
  }
}

/**
 * The results of a pass, read by read, without blocking. Each batch must be consumed before the
 * next.
 */
export async function* passBatches<T>(
  source: ByteSource,
  pass: Pass<T>,
  { signal, readsAhead = false }: PassOptions,
): AsyncGenerator<Iterable<T>, void, undefined> {
  let ahead: Promise<number> | undefined;
  try {
    let step = pass.next(0);
    while (step.done !== true) {
      signal?.throwIfAborted();
      if (isRead(step.value)) {
        const bytesRead = await (ahead ?? answer(source, step.value));
        ahead = undefined;
        step = pass.next(bytesRead);
        continue;
      }
      const { found } = step.value;
      // Starts the next read before the results are yielded.
      step = pass.next(0);
      if (readsAhead && step.done !== true && isRead(step.value)) {
        ahead = answer(source, step.value);
        // It may reject before it is awaited; the later await still gets the error.
        ahead.catch(() => 0);
      }
      yield found;
    }
  } finally {
    // The caller may close the source next, which must not happen during a read.
    await ahead?.catch(() => 0);
  }
}

function isRead<T>(step: ReadStep | FoundStep<T>): step is ReadStep {
  return "target" in step;
}

function answerSync(source: ByteSource, { target, offset, length, position }: ReadStep): number {
  return source.readSync(target, offset, length, position);
}

function answer(source: ByteSource, step: ReadStep): Promise<number> {
  return source.read(step.target, step.offset, step.length, step.position);
}
