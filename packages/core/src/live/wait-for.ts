/** Waits until a log holds an entry, or a number of entries, of any process. */
import type { OptionNames } from "@branchlog/streaming";
import { requireOptions } from "../argument-checks.ts";
import { BranchlogError } from "../errors.ts";
import { timerMsMax } from "../limits.ts";
import { sessionClosed } from "../session/watched-session.ts";
import type { LiveHub } from "./live-hub.ts";

/** So many entries in the log, or an entry with that id. */
export type WaitTarget = { readonly revision: number } | { readonly id: string };

/** When to give up. */
export interface WaitOptions {
  /** Default: never. */
  readonly timeoutMs?: number;
  /** Rejects with its reason. */
  readonly signal?: AbortSignal;
}

const waitNames: OptionNames<WaitOptions> = { timeoutMs: true, signal: true };

export async function waitFor(hub: LiveHub, what: WaitTarget, options: WaitOptions): Promise<void> {
  const { timeoutMs, signal } = requireOptions(options, waitNames);
  signal?.throwIfAborted();
  check(what, timeoutMs);
  const ending = new AbortController();
  const either = ending.signal;
  const abort = (): void => ending.abort(signal?.reason);
  signal?.addEventListener("abort", abort, { once: true });
  const watching = hub.changes$.subscribe();
  const isTimed = timeoutMs !== undefined && timeoutMs <= timerMsMax;
  const isLate = isTimed ? late(hub, timeoutMs, ending) : undefined;
  try {
    for (;;) {
      either.throwIfAborted();
      const { version } = hub;
      if (hub.isClosed) throw sessionClosed(hub.engine.path);
      if (holds(hub, what)) return;
      await hub.changed(version, either);
    }
  } catch (error) {
    if (isLate?.isOver === true) throw timedOut(hub.engine.path, what, timeoutMs);
    throw error;
  } finally {
    ending.abort();
    signal?.removeEventListener("abort", abort);
    watching.unsubscribe();
  }
}

function check(what: WaitTarget, timeoutMs: number | undefined): void {
  const isTarget = isWaitTarget(what);
  const isTime = timeoutMs === undefined || timeoutMs >= 0;
  if (isTarget && isTime) return;
  const message = isTarget
    ? `timeoutMs must be a number of at least 0, or Infinity, not ${timeoutMs}`
    : "the condition must be { revision } with a number of at least 0, or { id } with a string";
  throw new BranchlogError("ERR_INVALID_ARGUMENT", message);
}

function isWaitTarget(given: unknown): boolean {
  if (typeof given !== "object" || given === null) return false;
  if ("revision" in given) return typeof given.revision === "number" && given.revision >= 0;
  return "id" in given && typeof given.id === "string";
}

function holds({ engine }: LiveHub, what: WaitTarget): boolean {
  if ("revision" in what) return engine.log.state.revision >= what.revision;
  const { index, log } = engine;
  const row = index.rowOfId(what.id);
  return row >= 0 && row < log.state.revision && index.isNode(row);
}

/** Aborts unless it was aborted before. */
function late(
  { engine }: LiveHub,
  timeoutMs: number,
  ending: AbortController,
): { readonly isOver: boolean } {
  const state = { isOver: false };
  const { clock } = engine.settings.ports;
  clock.sleep(timeoutMs, ending.signal).then(
    () => {
      state.isOver = true;
      ending.abort();
    },
    () => undefined,
  );
  return state;
}

function timedOut(path: string, what: WaitTarget, timeoutMs: number | undefined): BranchlogError {
  const wanted = "revision" in what ? `revision ${what.revision}` : `entry ${what.id}`;
  const message = `${path} did not reach ${wanted} within ${timeoutMs} ms. Nothing was changed.`;
  return new BranchlogError("ERR_WAIT_TIMEOUT", message, { path });
}
