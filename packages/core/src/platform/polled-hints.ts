/** Directory hints of the system, which may be late or lost, with a slow poll behind them. */
import type { HintListener } from "@branchlog/streaming";
import type { Ports } from "./ports.ts";

export interface PolledDirectory {
  readonly ports: Pick<Ports, "clock" | "hints">;
  readonly directory: string;
  readonly pollMs: number;
}

/**
 * `onHint` gets null at every poll. Keeps the process alive until the returned function is called.
 */
export function watchWithPoll(
  { ports, directory, pollMs }: PolledDirectory,
  onHint: HintListener,
): () => void {
  const watch = ports.hints.watch(directory, onHint);
  const stopPoll = poll(ports.clock, pollMs, () => onHint(null));
  return () => {
    watch.closeSync();
    stopPoll();
  };
}

/** Calls `onPoll` every so many milliseconds until the returned function was called. */
export function poll(clock: Ports["clock"], pollMs: number, onPoll: () => void): () => void {
  const end = new AbortController();
  const pollUntilEnd = async (): Promise<void> => {
    while (!end.signal.aborted) {
      try {
        await clock.sleep(pollMs, end.signal);
      } catch {
        return;
      }
      onPoll();
    }
  };
  void pollUntilEnd();
  return () => end.abort();
}
