/**
 * Work that is left for the end of the process, as far as there is time for it. None of it may be
 * needed: a process that is killed does none.
 */
import { exitWorkMsMax } from "../limits.ts";

const works = new Set<(msLeft: number) => void>();
let isListening = false;

/**
 * Does `work`, which must not throw, when the process exits by itself; it is told how much time is
 * left for all that is to be done. Returns what ends that.
 */
export function atExit(work: (msLeft: number) => void): () => void {
  const own = (msLeft: number): void => work(msLeft);
  works.add(own);
  if (!isListening) process.once("exit", doAll);
  isListening = true;
  return () => {
    works.delete(own);
  };
}

/** Begins nothing once the time is over: whoever waits for the process waits for this, too. */
function doAll(): void {
  const startMs = performance.now();
  for (const work of works) {
    const msLeft = startMs + exitWorkMsMax - performance.now();
    if (msLeft < 0) return;
    work(msLeft);
  }
}
