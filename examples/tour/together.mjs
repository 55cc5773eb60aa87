/** Runs the writers and the follower as separate processes, and collects what they report. */
import { fork } from "node:child_process";
import { once } from "node:events";

/** Longer than any of them takes; a process that hangs must not hang the tour. */
const patienceMs = 60_000;

/**
 * @typedef {{ name: string, ids: string[], ms: number }} Written What a writer had acknowledged.
 * @typedef {{ seen: string[], looks: number }} Followed What the follower saw, in its order.
 *
 * @param {{ path: string, writers: string[], entriesEach: number, from: number }} plan
 * @returns {Promise<{ written: Written[], followed: Followed }>}
 */
export async function runTogether({ path, writers, entriesEach, from }) {
  const total = writers.length * entriesEach;
  const follower = fork(new URL("./follower.mjs", import.meta.url), [
    path,
    String(from),
    String(total),
  ]);
  const writer = new URL("./writer.mjs", import.meta.url);
  const appending = writers.map((name) => fork(writer, [path, name, String(entriesEach)]));
  const all = [follower, ...appending];
  try {
    // Everybody has the file open before anybody writes.
    await Promise.all(all.map((child) => nextReport(child)));
    for (const child of all) child.send("go");
    const [followed, ...written] = await Promise.all(all.map((child) => nextReport(child)));
    return { written, followed };
  } finally {
    for (const child of all) child.kill();
  }
}

/** The next message of a process. @param {import("node:child_process").ChildProcess} child */
async function nextReport(child) {
  const settled = new AbortController();
  const signal = AbortSignal.any([settled.signal, AbortSignal.timeout(patienceMs)]);
  const message = once(child, "message", { signal }).then(([report]) => report);
  const ended = once(child, "exit", { signal }).then(([code]) => {
    throw new Error(`${child.spawnfile} ${child.spawnargs.at(1)} ended with ${code} too early`);
  });
  try {
    return await Promise.race([message, ended]);
  } finally {
    settled.abort();
    await Promise.allSettled([message, ended]);
  }
}
