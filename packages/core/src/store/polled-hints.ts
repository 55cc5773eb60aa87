/**
 * Hints of the system that something changed in a directory, with a slow poll behind them: a hint
 * can be late or lost, and some file systems give none.
 */
import type { HintListener } from "@branchlog/streaming";
import type { Ports } from "./ports.ts";

/** What is watched, and how often it is looked at without a hint. */
export interface PolledDirectory {
  readonly ports: Pick<Ports, "clock" | "hints">;
  readonly directory: string;
  readonly pollMs: number;
}

/**
 * Calls `onHint` with the name of what changed, or with null if it may be anything, as it is at
 * every poll. Keeps the process alive until the returned function was called.
 */
export function watchWithPoll(
  { ports, directory, pollMs }: PolledDirectory,
  onHint: HintListener,
): () => void {
  const watch = ports.hints.watch(directory, onHint);
  const end = new AbortController();
  void poll(ports.clock, pollMs, end.signal, () => onHint(null));
  return () => {
    watch.closeSync();
    end.abort();
  };
}

async function poll(
  clock: Ports["clock"],
  pollMs: number,
  signal: AbortSignal,
  onPoll: () => void,
): Promise<void> {
  while (!signal.aborted) {
    try {
      await clock.sleep(pollMs, signal);
    } catch {
      return;
    }
    onPoll();
  }
}
