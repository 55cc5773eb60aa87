/**
 * One of several processes that append to the same session. Opens it, says "ready", and appends
 * at a message; then reports how long the slowest append took. Started by cases/append.ts only.
 */
import { performance } from "node:perf_hooks";
import { argv, exit } from "node:process";
import { openSession } from "@branchlog/core";
import { appendMessage, inFlight } from "./appending.ts";

const [path = "", count = "", width = ""] = argv.slice(2);
const session = await openSession(path);

process.once("message", () => {
  let longestMs = 0;
  const append = async (i: number): Promise<void> => {
    const startMs = performance.now();
    await appendMessage(session, i);
    longestMs = Math.max(longestMs, performance.now() - startMs);
  };
  void inFlight(Number(count), Number(width), append).then(() => {
    process.send?.(longestMs, undefined, undefined, () => exit(0));
  });
});
process.send?.("ready");
