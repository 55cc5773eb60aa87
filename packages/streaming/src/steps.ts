/**
 * Work that reads or waits is written once, as a generator that yields its requests. One driver
 * blocks, one lets the event loop run; tests interleave such work in every order. The steps carry
 * their source and clock, so that the drivers know nothing else.
 */
import { setImmediate as nextIteration } from "node:timers/promises";
import { itemsOf } from "./batch-items.ts";
import type { ByteSource } from "./byte-source.ts";

/** Up to `length` bytes from `position`: the steps resume with their number, 0 at the end. */
export interface ReadStep {
  readonly kind: "read";
  readonly source: ByteSource;
  readonly target: Buffer;
  /** Where in `target` they go. */
  readonly offset: number;
  readonly length: number;
  readonly position: number;
}

/** How time passes. */
export interface Sleeper {
  sleepSync(ms: number): void;
  /** Rejects with the signal's reason once it is aborted. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

/**
 * `port`: names the call that follows; no driver waits here. `ahead`: that read, yielded later, may
 * begin now, if the driver does not block. `pause`: other work may run. `io`: a call to something
 * else than a file, as a store.
 */
export type Step =
  | ReadStep
  | { readonly kind: "ahead"; readonly read: ReadStep }
  | { readonly kind: "pause" }
  | { readonly kind: "port"; readonly call: string }
  | { readonly kind: "wait"; readonly clock: Sleeper; readonly ms: number }
  | {
      readonly kind: "io";
      readonly runSync: () => void;
      readonly run: (signal: AbortSignal | undefined) => Promise<void>;
    };

/** Results. If they are built lazily from a target, no read may use it meanwhile. */
export interface FoundStep<T> {
  readonly kind: "found";
  readonly found: Iterable<T>;
}

/** Steps to one result. */
export type Steps<R> = Generator<Step, R, number>;

/** Steps that yield results on their way. */
export type FindingSteps<T> = Generator<FoundStep<T> | Step, void, number>;

export const pause: Step = { kind: "pause" };

const ports = new Map<string, Step>();

/** The same object for the same name. */
export function portStep(call: string): Step {
  const known = ports.get(call);
  if (known !== undefined) return known;
  const step: Step = { kind: "port", call };
  ports.set(call, step);
  return step;
}

/** From a port that blocks, the answer itself. */
export type Answer<T> = T | Promise<T>;

/**
 * The answer of `work`; the blocking driver needs one that is not a promise. Errors of `work` are
 * thrown into these steps.
 */
export function* io<T>(work: (signal: AbortSignal | undefined) => Answer<T>): Steps<T> {
  let result: { readonly value: T } | undefined;
  yield {
    kind: "io",
    runSync: () => {
      const answer = work(undefined);
      if (isPromise(answer)) throw new Error("a call that does not block, in steps that do");
      result = { value: answer };
    },
    run: async (signal) => {
      result = { value: await work(signal) };
    },
  };
  if (result === undefined) throw new Error("a step that no driver waited for");
  return result.value;
}

function isPromise<T>(answer: Answer<T>): answer is Promise<T> {
  return typeof answer === "object" && answer !== null && "then" in answer;
}

/** The result, blocking. Errors of a step are thrown into the steps. */
export function runSync<R>(steps: Steps<R>): R {
  let next = steps.next(0);
  while (next.done !== true) next = resumeSync(steps, next.value);
  return next.value;
}

/**
 * The result, without blocking. An aborted signal ends the steps at their next read, pause or wait:
 * they clean up, and it rejects with the reason. No read is in flight once it has ended.
 */
export async function runAsync<R>(steps: Steps<R>, signal?: AbortSignal): Promise<R> {
  const driver = new AsyncDriver(signal);
  try {
    let next = steps.next(0);
    while (next.done !== true) {
      next = driver.passes(next.value) ? steps.next(0) : await driver.resume(steps, next.value);
    }
    return next.value;
  } finally {
    if (driver.isReading) await driver.settle();
  }
}

/** The results, blocking. Reads no further than is pulled; throws the reason of an abort. */
export function* itemsSync<T>(
  steps: FindingSteps<T>,
  signal?: AbortSignal,
): Generator<T, void, undefined> {
  try {
    signal?.throwIfAborted();
    let next = steps.next(0);
    while (next.done !== true) {
      signal?.throwIfAborted();
      const step = next.value;
      if (step.kind !== "found") {
        next = resumeSync(steps, step);
        continue;
      }
      for (const item of step.found) {
        signal?.throwIfAborted();
        yield item;
      }
      next = steps.next(0);
    }
  } finally {
    steps.return();
  }
}

/** The results, without blocking. No read is in flight once it has ended, however it ends. */
export function items<T>(
  steps: FindingSteps<T>,
  signal?: AbortSignal,
): AsyncGenerator<T, void, undefined> {
  return itemsOf(batches(steps, signal), signal);
}

/** The same, step by step. Each batch must be consumed before the next. */
export async function* batches<T>(
  steps: FindingSteps<T>,
  signal?: AbortSignal,
): AsyncGenerator<Iterable<T>, void, undefined> {
  const driver = new AsyncDriver(signal);
  try {
    signal?.throwIfAborted();
    let next = steps.next(0);
    while (next.done !== true) {
      signal?.throwIfAborted();
      const step = next.value;
      if (step.kind === "found") yield step.found;
      const isOver = step.kind === "found" || driver.passes(step);
      next = isOver ? steps.next(0) : await driver.resume(steps, step);
    }
  } finally {
    // The steps may close the source, which must not happen during a read.
    await driver.settle();
    steps.return();
  }
}

function resumeSync<S, R>(steps: Generator<S, R, number>, step: Step): IteratorResult<S, R> {
  let answer: number;
  try {
    answer = answerSync(step);
  } catch (error) {
    return steps.throw(error);
  }
  return steps.next(answer);
}

function answerSync(step: Step): number {
  switch (step.kind) {
    case "read":
      return step.source.readSync(step.target, step.offset, step.length, step.position);
    case "wait":
      step.clock.sleepSync(step.ms);
      return 0;
    case "io":
      step.runSync();
      return 0;
    case "ahead":
    case "pause":
    case "port":
      return 0;
  }
}

type TimedStep = Exclude<Step, { readonly kind: "ahead" | "port" }>;

class AsyncDriver {
  readonly #signal: AbortSignal | undefined;
  #ahead: Map<ReadStep, Promise<number>> | undefined;

  constructor(signal: AbortSignal | undefined) {
    this.#signal = signal;
  }

  get isReading(): boolean {
    return this.#ahead !== undefined && this.#ahead.size > 0;
  }

  async settle(): Promise<void> {
    if (this.#ahead !== undefined) await Promise.allSettled(this.#ahead.values());
  }

  /** True for a step that takes no time. */
  passes(step: Step): step is Exclude<Step, TimedStep> {
    if (step.kind === "port") return true;
    if (step.kind !== "ahead") return false;
    const read = begun(step.read);
    // It may reject before it is awaited; the later await still gets the error.
    read.catch(() => 0);
    this.#ahead ??= new Map();
    this.#ahead.set(step.read, read);
    return true;
  }

  async resume<S, R>(
    steps: Generator<S, R, number>,
    step: TimedStep,
  ): Promise<IteratorResult<S, R>> {
    let answer: number;
    try {
      this.#signal?.throwIfAborted();
      answer = await this.#answer(step);
      this.#signal?.throwIfAborted();
    } catch (error) {
      await this.settle();
      if (this.#signal?.aborted !== true) return steps.throw(error);
      // The work cleans up; the caller gets its own reason, not an error that wraps it.
      try {
        // It may wait once more on its way, as before another try.
        while (steps.throw(error).done !== true);
      } catch {}
      throw error;
    }
    return steps.next(answer);
  }

  async #answer(step: TimedStep): Promise<number> {
    switch (step.kind) {
      case "read": {
        const read = this.#ahead?.get(step) ?? begun(step);
        const bytesRead = await read;
        this.#ahead?.delete(step);
        return bytesRead;
      }
      case "wait":
        await step.clock.sleep(step.ms, this.#signal);
        return 0;
      case "io":
        await step.run(this.#signal);
        return 0;
      case "pause":
        await nextIteration();
        return 0;
    }
  }
}

function begun({ source, target, offset, length, position }: ReadStep): Promise<number> {
  return source.read(target, offset, length, position);
}
