/**
 * The critical section of an append, from lock to unlock: catch up with what others wrote, plan,
 * write once, and look where the bytes landed. Without that last look, a peer that takes no lock or
 * a lock that was taken over while its holder stalled would cost acknowledged entries. It contains
 * no wait, and nothing whose cost depends on the length of the log.
 */
import { BranchlogError } from "../errors.ts";
import { appendAttemptsMax } from "../limits.ts";
import type { LeaseUse } from "../store/lock-lease.ts";
import { sharingOf } from "../store/lock-sharing.ts";
import type { Ports } from "../store/ports.ts";
import { land } from "./landing.ts";
import type { Landing, LandingLog, PlannedLine } from "./landing.ts";
import { acquireLock } from "./lock-wait.ts";
import { portStep } from "./steps.ts";
import type { Steps } from "./steps.ts";

/** The log as the section needs it. */
export interface AppendLog extends LandingLog {
  readonly path: string;
}

/** How the section takes the lock, and whether it may be kept for the next one. */
export interface LockUse {
  readonly ports: Ports;
  readonly lockWaitMs: number;
  /** Who gives back a lock that is kept; `nobody`: it is not kept. */
  readonly keptLockIsReturnedBy: LeaseUse["isReturnedBy"] | "nobody";
}

/** Anything that says what to write. */
export interface LinePlan {
  readonly lines: readonly PlannedLine[];
  /** The write begins with a newline, whatever stands before it. */
  readonly needsFence: boolean;
}

/** The plan that was carried out, and what became of it. */
export interface SectionOutcome<Plan> {
  readonly plan: Plan;
  readonly landing: Landing;
}

/**
 * Runs one append under the lock of the log. `plan` is called with the log caught up, and again if
 * the lock was lost before anything was written, or another log took the name during the write.
 * @throws BranchlogError `ERR_LOCK_TIMEOUT`, whatever `plan` and catching up throw,
 * `ERR_APPEND_FAILED`: in each case nothing was written.
 */
export function* appendSection<Plan extends LinePlan>(
  log: AppendLog,
  lock: LockUse,
  plan: () => Plan,
): Steps<SectionOutcome<Plan>> {
  const { lease } = sharingOf(lock.ports.lock);
  for (let attempt = 0; attempt < appendAttemptsMax; attempt += 1) {
    const startMs = lock.ports.clock.monotonicMs();
    const held = yield* acquireLock(log.path, lock.ports, lock.lockWaitMs);
    let isDone = false;
    try {
      // Under a kept lock, too: not everybody takes it, and nobody needs it to delete a file.
      yield* log.catchUp();
      const planned = plan();
      yield portStep("check lock");
      // A holder that stalled for too long has lost its lock: it starts over instead of writing.
      if (!held.isOursSync()) continue;
      const landing = yield* land(log, planned.lines, planned.needsFence);
      if (landing === null) continue;
      isDone = landing.isAsPlanned;
      return { plan: planned, landing };
    } finally {
      const isReturnedBy = lock.keptLockIsReturnedBy;
      if (isDone && isReturnedBy !== "nobody") {
        const nowMs = lock.ports.clock.monotonicMs();
        lease.giveBack(log.path, held, { startMs, nowMs, keeper: log, isReturnedBy });
      } else {
        held.releaseSync();
      }
    }
  }
  throw new BranchlogError(
    "ERR_APPEND_FAILED",
    `The lock of ${log.path} was taken over, or the log replaced, ${appendAttemptsMax} times; ` +
      "it holds nothing of what was appended. Append again.",
    { path: log.path },
  );
}
