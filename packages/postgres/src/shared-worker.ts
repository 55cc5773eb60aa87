/** The one worker of a process that waits for databases on behalf of threads that cannot. */
import { WorkerCalls, asPart } from "./worker-calls.ts";
import type { ReadPartSync } from "./postgres-index.ts";

let calls: WorkerCalls | undefined;

/** Another one once it has ended, or does not answer. */
export function workerCalls(): WorkerCalls {
  if (calls === undefined || calls.isSilent) calls = new WorkerCalls();
  return calls;
}

/** Of the logs of the store with this address, secrets included. */
export function partsInWorker(store: string): ReadPartSync {
  return (log, known, range) => asPart(workerCalls().call("readPartOf", store, log, known, range));
}
