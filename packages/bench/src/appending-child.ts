/**
 * One of several processes that append to the same session. Opens it, says "ready", and appends
 * once it is told to; then tells how many and how long the slowest took. Started by
 * cases/append-processes.ts only.
 */
import { performance } from "node:perf_hooks";
import { argv, exit } from "node:process";
import { openSession } from "@branchlog/core";
import { smallMessage } from "./append-check.ts";

/** What a process tells when it is through. */
export interface AppendingAnswer {
  readonly appended: number;
  /** The longest that one append took, in milliseconds. */
  readonly longestMs: number;
}

const [path = "", count = "", inFlight = ""] = argv.slice(2);
const session = await openSession(path);

process.once("message", () => {
  void run(Number(count), Number(inFlight)).then((answer) => {
    process.send?.(answer, undefined, undefined, () => exit(0));
  });
});
process.send?.("ready");

async function run(appended: number, promises: number): Promise<AppendingAnswer> {
  let next = 0;
  let longestMs = 0;
  const appendSome = async (): Promise<void> => {
    while (next < appended) {
      const message = smallMessage(next++);
      const startMs = performance.now();
      await session.append({ type: "message", message });
      longestMs = Math.max(longestMs, performance.now() - startMs);
    }
  };
  await Promise.all(Array.from({ length: promises }, () => appendSome()));
  return { appended, longestMs };
}
