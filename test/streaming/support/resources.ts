/** What this process holds open, to see that nothing of it is left behind. */
import { closeSync, openSync } from "node:fs";

/** Watchers of the system that are open. One that was closed is gone a turn later. */
export function watchersNow(): number {
  return process.getActiveResourcesInfo().filter((name) => name === "FSEventWrap").length;
}

/** The number that the next descriptor would get: the same as before if none was left open. */
export function nextDescriptor(path: string): number {
  const descriptor = openSync(path, "r");
  closeSync(descriptor);
  return descriptor;
}
