/**
 * How the appenders of one process share the lock of a log. One of them at a time contends for it,
 * with a deadline, and in the queue of the lock if it has one. It is retained briefly between
 * appends in close sequence, as acquiring it costs more than an append. Without the sharing, a
 * blocked thread could wait forever for a lock that only its own event loop releases.
 */
import { portStep } from "@branchlog/streaming";
import type { Steps } from "@branchlog/streaming";
import {
  awaitedPauseMsMax,
  awaitedTurnMsMax,
  retentionAfterAppends,
  retentionAfterAwaited,
  retentionMsMax,
  retentionPauseMsMax,
  unawaitedRetentionMsMax,
} from "../limits.ts";
import { waitForLock } from "./lock-wait.ts";
import type { WaiterSharing } from "./lock-wait.ts";
import { lockfileLock } from "./lockfile-lock.ts";
import { onePerPort } from "./ports.ts";
import type { FileLock, HeldLock, Ports } from "./ports.ts";

export interface LockSharing extends WaiterSharing {
  readonly mutex: KeyedMutex;
  readonly retention: LockRetention;
}

/** Its key changes also when the methods of a held lock do. */
export const sharingOf: (lock: FileLock) => LockSharing = onePerPort(
  lockfileLock,
  "branchlog.lock-sharing.6",
  () => ({ mutex: new KeyedMutex(), retention: new LockRetention(), places: new Map() }),
);

/** The lock that this process retained, if it may be used again; otherwise it is released. */
export function takeRetainedLock(path: string, { lock }: Ports, nowMs: number): HeldLock | null {
  const isAwaited = (): boolean => lock.queue?.isBusySync(path) ?? true;
  return sharingOf(lock).retention.take(path, nowMs, isAwaited);
}

const beforeLock = portStep("lock");

/**
 * Acquires the lock of `path`, or takes the retained one. A `lockWaitMs` of 0 means one try,
 * whether others wait or not; a free lock is also tried once at the end of a wait.
 * @throws BranchlogError `ERR_LOCK_TIMEOUT` once the queue has not advanced for `lockWaitMs`, or a
 * wait without a place has lasted as long; in any case after `lockWaitTotalFactor` times as long.
 */
export function* acquireLock(path: string, ports: Ports, lockWaitMs: number): Steps<HeldLock> {
  const { clock, lock } = ports;
  const sharing = sharingOf(lock);
  const startMs = clock.monotonicMs();
  const retained = takeRetainedLock(path, ports, startMs);
  if (retained !== null) return retained;
  yield beforeLock;
  const isNext = lockWaitMs === 0 || lock.queue?.isBusySync(path) !== true;
  let held = isNext ? lock.tryAcquireSync(path) : null;
  held ??= yield* waitForLock(path, ports, sharing, { lockWaitMs, startMs, isNext });
  sharing.retention.begin(clock.monotonicMs());
  return held;
}

/**
 * When a lock is released after an append: `immediate`, at once; `microtask`, by the retention,
 * once the caller's code ends; `caller`, by the appender, after the microtasks of its callers.
 */
export type ReleasePolicy = "immediate" | "microtask" | "caller";

export interface RetainedUse {
  readonly startMs: number;
  readonly nowMs: number;
  readonly keeper: object;
  readonly releasePolicy: ReleasePolicy;
}

interface KeptLock {
  readonly path: string;
  readonly held: HeldLock;
  readonly keeper: object;
  /** Between awaited appends: the appender releases it. */
  readonly isOwn: boolean;
}

/**
 * Retains the lock of at most one log, and which appender validated the log under it. It is
 * released when the caller's code ends, and before another appender of this process waits for a
 * lock; between blocking appends after `retentionMsMax` if others wait for it, else after
 * `unawaitedRetentionMsMax`; between awaited ones after `awaitedTurnMsMax`, and always before the
 * event loop continues. Times are monotonic.
 */
export class LockRetention {
  #kept: KeptLock | undefined;
  #sinceMs = 0;
  /** When it was last known to have no waiters. */
  #unawaitedMs = 0;
  /** The last appender that validated log and lock since the acquisition. */
  #validated: { readonly keeper: object; readonly atMs: number } | undefined;
  #run = { path: "", appends: 0, pausedMs: 0, looseAppends: 0, endMs: 0 };
  #isReturning = false;

  isRetainedBy(keeper: object): boolean {
    return this.#kept?.keeper === keeper;
  }

  isOverdue(path: string, nowMs: number): boolean {
    return this.#kept?.path === path && nowMs - this.#sinceMs >= awaitedTurnMsMax;
  }

  /** `isAwaited`, whether others wait for it, is called every `retentionMsMax` at most. */
  take(path: string, nowMs: number, isAwaited: () => boolean): HeldLock | null {
    const kept = this.#kept;
    if (kept?.path === path && this.#canRetain(nowMs, kept.isOwn, isAwaited)) {
      this.#kept = undefined;
      return kept.held;
    }
    this.release();
    return null;
  }

  #canRetain(nowMs: number, isOwn: boolean, isAwaited: () => boolean): boolean {
    if (isOwn) return nowMs - this.#sinceMs < awaitedTurnMsMax;
    if (nowMs - this.#unawaitedMs < retentionMsMax) return true;
    if (nowMs - this.#sinceMs >= unawaitedRetentionMsMax || isAwaited()) return false;
    this.#unawaitedMs = nowMs;
    return true;
  }

  begin(nowMs: number): void {
    this.#sinceMs = nowMs;
    this.#unawaitedMs = nowMs;
    this.#validated = undefined;
  }

  validated(keeper: object, nowMs: number): void {
    this.#validated = { keeper, atMs: nowMs };
  }

  /** Whether that appender validated last under this lock, less than `retentionMsMax` ago. */
  isValidated(keeper: object, nowMs: number): boolean {
    return this.#validated?.keeper === keeper && nowMs - this.#validated.atMs < retentionMsMax;
  }

  /** The time that appends take themselves is not a pause: slow machines behave the same. */
  retainOrRelease(
    path: string,
    held: HeldLock,
    { startMs, nowMs, keeper, releasePolicy }: RetainedUse,
  ): void {
    if (releasePolicy === "immediate") return held.releaseSync();
    this.#count(path, startMs, nowMs);
    const isOwn = releasePolicy === "caller";
    const { appends, looseAppends } = this.#run;
    const isRow = isOwn ? looseAppends >= retentionAfterAwaited : appends >= retentionAfterAppends;
    const inUseMs = nowMs - Math.max(startMs, this.#unawaitedMs);
    // The appender itself checks whether it is time to release it.
    if (!isRow || (!isOwn && inUseMs >= retentionMsMax)) {
      held.releaseSync();
      return;
    }
    this.#kept = { path, held, keeper, isOwn };
    if (this.#isReturning || isOwn) return;
    this.#isReturning = true;
    queueMicrotask(() => {
      this.#isReturning = false;
      this.release();
    });
  }

  release(): void {
    const kept = this.#kept;
    this.#kept = undefined;
    this.#validated = undefined;
    kept?.held.releaseSync();
  }

  #count(path: string, startMs: number, nowMs: number): void {
    const run = this.#run;
    const isSame = path === run.path;
    const pauseMs = startMs - run.endMs;
    const pausedMs = run.pausedMs + pauseMs;
    const isContinued = isSame && pausedMs <= retentionPauseMsMax;
    run.appends = isContinued ? run.appends + 1 : 1;
    run.pausedMs = isContinued && run.appends < retentionAfterAppends ? pausedMs : 0;
    run.looseAppends = isSame && pauseMs <= awaitedPauseMsMax ? run.looseAppends + 1 : 1;
    run.path = path;
    run.endMs = nowMs;
  }
}

/** Runs one piece of work at a time for each path, in the order of the calls. */
export class KeyedMutex {
  readonly #last = new Map<string, Promise<void>>();

  get busyCount(): number {
    return this.#last.size;
  }

  run<T>(path: string, work: () => Promise<T>): Promise<T> {
    const before = this.#last.get(path) ?? Promise.resolve();
    const result = before.then(work);
    const done = (): void => {
      if (this.#last.get(path) === last) this.#last.delete(path);
    };
    const last = result.then(done, done);
    this.#last.set(path, last);
    return result;
  }
}
