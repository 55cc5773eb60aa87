/** What this process holds open, to see that nothing of it is left behind. */
import { closeSync, openSync } from "node:fs";

/** Watchers of the system that are open. One that was closed is gone a turn later. */
export function watchersNow(): number {
  return activeNow("FSEventWrap");
}

/** Timers that are running. */
export function timersNow(): number {
  return activeNow("Timeout");
}

/** A count after the turns of the event loop that it takes to get there; no timer counts along. */
export async function settled(count: () => number, expected: number): Promise<number> {
  const end = performance.now() + 10_000;
  while (count() !== expected && performance.now() < end) {
    await new Promise<void>((resolve) => {
      setImmediate(resolve);
    });
  }
  return count();
}

/** The number that the next descriptor would get: the same as before if none was left open. */
export function nextDescriptor(path: string): number {
  const descriptor = openSync(path, "r");
  closeSync(descriptor);
  return descriptor;
}

function activeNow(kind: string): number {
  return process.getActiveResourcesInfo().filter((name) => name === kind).length;
}
