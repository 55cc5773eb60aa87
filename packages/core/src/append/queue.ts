/**
 * The appends of one asynchronous session, in the order of their calls. Those that wait together
 * are one write. Sessions of one process that share a log take turns, each with all it has waiting,
 * up to `batchBytesMax`. A failed append is reported to its caller only.
 */
import { setImmediate as nextIteration } from "node:timers/promises";
import { runAsync } from "@branchlog/streaming";
import { BranchlogError } from "../errors.ts";
import { sharingOf } from "../platform/lock.ts";
import { failedCall, idsOf } from "./append-result.ts";
import type { AppendOutcome, AppendResult } from "./append-result.ts";
import type { Appender, QueuedGroup } from "./appender.ts";
import { deferred } from "./deferred.ts";
import type { Deferred } from "./deferred.ts";
import type { LeafCursor } from "./leaf-cursor.ts";
import { bytesOf } from "./request.ts";
import type { AppendCall, AppendRequest } from "./request.ts";

const jobBytes = 256;

interface QueuedAppend extends AppendCall {
  readonly kind: "append";
  readonly bytes: number;
  readonly answer: Deferred<readonly AppendResult[]>;
  /** `gone`: its caller stopped waiting; it is skipped. */
  state: "queued" | "taken" | "gone";
}

interface QueuedWork {
  readonly kind: "work";
  readonly bytes: number;
  readonly run: () => Promise<void>;
}

export class AppendQueue {
  readonly #appender: Appender;
  readonly #leaf: LeafCursor;
  #jobs: (QueuedAppend | QueuedWork)[] = [];
  #queuedBytes = 0;
  #waitingAppends = 0;
  #drained: Promise<void> | undefined;
  readonly #syncing = new Set<Promise<void>>();
  #wait = new AbortController();
  /** What is written is not ended when an append after it is aborted. */
  #isWriting = false;

  constructor(appender: Appender, leaf: LeafCursor) {
    this.#appender = appender;
    this.#leaf = leaf;
  }

  /** Throws `ERR_QUEUE_FULL`, and what `Appender.check` throws. */
  append(request: AppendRequest, signal?: AbortSignal): Promise<readonly AppendResult[]> {
    signal?.throwIfAborted();
    this.#appender.check(request);
    if (request.items.length === 0) return Promise.resolve([]);
    const bytes = jobBytes + bytesOf(request.items);
    const answer = deferred<readonly AppendResult[]>();
    const job: QueuedAppend = { kind: "append", request, bytes, answer, state: "queued" };
    this.#enqueue(job);
    this.#waitingAppends += 1;
    return signal === undefined ? answer.promise : this.#abortable(job, signal);
  }

  async run<T>(work: () => T | Promise<T>): Promise<T> {
    const answer = deferred<T>();
    const run = async (): Promise<void> => {
      try {
        answer.resolve(await work());
      } catch (error) {
        answer.reject(error);
      }
    };
    this.#enqueue({ kind: "work", bytes: jobBytes, run });
    return answer.promise;
  }

  async idle(): Promise<void> {
    while (this.#drained !== undefined) await this.#drained;
    await Promise.all(this.#syncing);
  }

  async #abortable(job: QueuedAppend, signal: AbortSignal): Promise<readonly AppendResult[]> {
    const leave = (): void => this.#leave(job, signal.reason);
    signal.addEventListener("abort", leave, { once: true });
    try {
      return await job.answer.promise;
    } finally {
      signal.removeEventListener("abort", leave);
    }
  }

  #enqueue(job: QueuedAppend | QueuedWork): void {
    const { path, settings } = this.#appender;
    const queuedBytes = this.#queuedBytes + job.bytes;
    if (this.#queuedBytes > 0 && queuedBytes > settings.queuedBytesMax) {
      throw queueFull(path, settings.queuedBytesMax);
    }
    this.#queuedBytes = queuedBytes;
    this.#jobs.push(job);
    this.#drained ??= this.#drain();
  }

  async #drain(): Promise<void> {
    // Appends of the same event-loop turn are written together.
    await Promise.resolve();
    for (let first = this.#jobs[0]; first !== undefined; first = this.#jobs[0]) {
      if (first.kind === "work") {
        this.#jobs.shift();
        await first.run();
        this.#queuedBytes -= first.bytes;
        continue;
      }
      const { mutex } = sharingOf(this.#appender.settings.ports.lock);
      await mutex.run(this.#appender.path, async () => {
        if (this.#isOverdue) await this.#backOff();
        await this.#commit();
        if (this.#isOverdue) await this.#backOff();
      });
      await this.#pause();
    }
    this.#drained = undefined;
  }

  get #isOverdue(): boolean {
    const { path, settings } = this.#appender;
    const { clock, lock } = settings.ports;
    return sharingOf(lock).retention.isOverdue(path, clock.monotonicMs());
  }

  /** Releases an overdue lock and yields, so that waiting processes come first. */
  async #backOff(): Promise<void> {
    sharingOf(this.#appender.settings.ports.lock).retention.release();
    await nextIteration();
  }

  /**
   * Callers whose append resolved get time to append again. If the lock was retained and they do,
   * the queue continues at once; otherwise the event loop runs without the lock.
   */
  async #pause(): Promise<void> {
    const { log, settings } = this.#appender;
    const { retention } = sharingOf(settings.ports.lock);
    if (retention.isRetainedBy(log)) {
      // All callbacks of this event-loop turn run first.
      await new Promise<void>((resolve) => {
        process.nextTick(resolve);
      });
      if (this.#jobs[0]?.kind === "append") return;
      if (retention.isRetainedBy(log)) retention.release();
    }
    await nextIteration();
  }

  async #commit(): Promise<void> {
    const { settings } = this.#appender;
    const waiting = this.#appendsInFront(Number.POSITIVE_INFINITY);
    if (!this.#hasCaller(waiting)) return void this.#take(waiting);
    let group: readonly QueuedAppend[] | undefined;
    // Chosen under the lock: appends queued during the wait for it are part of the group.
    const take = (): readonly QueuedAppend[] =>
      (group = this.#take(this.#appendsInFront(settings.batchBytesMax)));
    if (this.#wait.signal.aborted) this.#wait = new AbortController();
    this.#isWriting = false;
    try {
      const steps = this.#appender.appendQueued(this.#leaf, take);
      const appended = await runAsync(steps, this.#wait.signal);
      this.#settle(group ?? [], appended);
    } catch (error) {
      // Appends queued later keep waiting, with a full wait of their own.
      for (const job of group ?? this.#take(waiting)) this.#answer(job, failedCall(error));
    }
  }

  /** Settles at once, or when the write is durable. Later groups do not wait. */
  #settle(group: readonly QueuedAppend[], { outcomes, durable }: QueuedGroup): void {
    const answer = (): void => {
      for (const [at, job] of group.entries()) this.#answer(job, outcomes[at]);
    };
    if (durable === undefined) {
      answer();
      return;
    }
    const settled = durable.then(answer, (cause: unknown) => {
      for (const [at, job] of group.entries()) {
        this.#answer(job, this.#doubted(outcomes[at], cause));
      }
    });
    this.#syncing.add(settled);
    void settled.then(() => this.#syncing.delete(settled));
  }

  #doubted(outcome: AppendOutcome | undefined, cause: unknown): AppendOutcome | undefined {
    if (outcome?.results === undefined) return outcome;
    return failedCall(this.#appender.durability.unknown(idsOf(outcome.results), cause));
  }

  #answer({ bytes, answer }: QueuedAppend, outcome: AppendOutcome | undefined): void {
    this.#queuedBytes -= bytes;
    if (outcome === undefined) answer.reject(new Error("an append without an outcome"));
    else if (outcome.results === undefined) answer.reject(outcome.error);
    else answer.resolve(outcome.results);
  }

  /** How many appends at the front of the queue fit into `bytesMax`; at least one. */
  #appendsInFront(bytesMax: number): number {
    let bytes = 0;
    let count = 0;
    for (const job of this.#jobs) {
      bytes += job.bytes;
      if (job.kind === "work" || (count > 0 && bytes > bytesMax)) break;
      count += 1;
    }
    return count;
  }

  #hasCaller(waiting: number): boolean {
    for (let at = 0; at < waiting; at += 1) {
      const job = this.#jobs[at];
      if (job?.kind === "append" && job.state === "queued") return true;
    }
    return false;
  }

  #take(count: number): readonly QueuedAppend[] {
    const taken: QueuedAppend[] = [];
    for (const job of this.#jobs.splice(0, count)) {
      if (job.kind !== "append" || job.state === "gone") continue;
      job.state = "taken";
      taken.push(job);
    }
    this.#waitingAppends -= taken.length;
    // Its own caller would get the reason of another one, of an append that may be in the log.
    this.#isWriting = true;
    return taken;
  }

  /** Too late once its append was taken. */
  #leave(job: QueuedAppend, reason: unknown): void {
    if (job.state !== "queued") return;
    job.state = "gone";
    this.#answer(job, failedCall(reason));
    this.#waitingAppends -= 1;
    if (this.#waitingAppends === 0 && !this.#isWriting) this.#wait.abort(reason);
  }
}

function queueFull(path: string, queuedBytesMax: number): BranchlogError {
  return new BranchlogError(
    "ERR_QUEUE_FULL",
    `The queue of appends to ${path} would exceed ${queuedBytesMax} bytes (queuedBytesMax); ` +
      "this append was rejected, nothing of it was written. Wait for earlier appends to resolve.",
    { path },
  );
}
