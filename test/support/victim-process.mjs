// Appends until it is told how much, or killed. What it was told is in the log is a line on stdout.
// Usage: node victim-process.mjs OPTIONS, a JSON object as in victims.ts.
import { appendFileSync, readSync, writeSync } from "node:fs";
import { dirname } from "node:path";
import { openSession } from "@branchlog/core";
import { createLockfileLock } from "../../packages/core/dist/platform/lockfile-lock.js";
import { nodeFileSystem } from "../../packages/core/dist/platform/node-file-system.js";

const options = JSON.parse(process.argv[2]);
const { path, name, way, count, batch, bytesMax, staleMs, pause, mayFail, sessionLayer } = options;

// Written at once: what the parent process has read was acknowledged.
const say = (word, facts = null) => writeSync(1, `${JSON.stringify([word, facts])}\n`);

let isReady = false;
const ready = () => {
  isReady = true;
  say("ready");
};

/** Stops, or dies, before the n-th call of a name that is about the log or what becomes it. */
function pausing(fs) {
  let left = pause?.after ?? 0;
  const around = (call, at) => {
    if (!isReady || pause === undefined) return;
    if (pause.call !== "any" && pause.call !== call) return;
    if (typeof at === "string" && !at.startsWith(path) && at !== dirname(path)) return;
    left -= 1;
    if (left !== -1) return;
    say("paused", call);
    process.kill(process.pid, pause.signal);
    // Until it is told to continue; a stopped process that continues reads at once.
    readSync(0, Buffer.alloc(1));
    say("resumed");
  };
  const paused = Object.entries(fs).map(([call, run]) => [
    call,
    (...args) => {
      around(call, args[0]);
      return run(...args);
    },
  ]);
  return Object.fromEntries(paused);
}

const fs = pausing(nodeFileSystem);
const lock = createLockfileLock({ staleMs, updateMs: 1000 });
const ports = { fs, lock };

const draftOf = (i, n) => ({
  type: "custom",
  customType: name,
  data: { i, n, text: "x".repeat((i * 7919 + n * 104_729) % bytesMax) },
});
const draftsOf = (i) => Array.from({ length: batch }, (_, n) => draftOf(i, n));
const acknowledge = (i, ids, offsets = []) => say("acknowledged", { i, ids, offsets });
const acknowledgeAll = (i, results) =>
  acknowledge(
    i,
    results.map(({ id }) => id),
    results.map(({ position }) => position.offset),
  );

/** A session manager of ours, or of the session layer that is to be tried. */
async function openManager() {
  if (sessionLayer !== undefined) return (await import(sessionLayer)).SessionManager.open(path);
  const { managersWith } = await import("../../packages/agents/dist/pi/session-manager.js");
  return managersWith({ ports }).open(path);
}

/** An append that was rejected says what was written; whether it may be is up to the test. */
async function attempt(i, append) {
  try {
    await append();
  } catch (error) {
    if (mayFail !== true || error.code !== "ERR_APPEND_FAILED") throw error;
    say("rejected", { i, ids: error.written, offsets: [] });
  }
}

const ways = {
  async batches() {
    const session = await openSession(path, { ports });
    ready();
    for (let i = 0; i < count; i += 1) {
      await attempt(i, async () => acknowledgeAll(i, await session.appendAll(draftsOf(i))));
    }
  },
  async together() {
    const session = await openSession(path, { ports });
    ready();
    for (let i = 0; i < count; i += batch) {
      const appends = Array.from({ length: batch }, (_, n) =>
        attempt(i + n, async () => {
          acknowledgeAll(i + n, [await session.append(draftOf(i + n, 0))]);
        }),
      );
      await Promise.all(appends);
    }
  },
  async blocking() {
    const manager = await openManager();
    ready();
    for (let i = 0; i < count; i += 1) {
      const { customType, data } = draftOf(i, 0);
      await attempt(i, () => acknowledge(i, [manager.appendCustomEntry(customType, data)]));
    }
  },
  /** Without lock, as a program does that knows nothing of it. */
  peer() {
    ready();
    const timestamp = "2026-01-01T00:00:00.000Z";
    for (let i = 0; i < count; i += 1) {
      const entry = { ...draftOf(i, 0), id: `${name}-${i}`, parentId: null, timestamp };
      appendFileSync(path, `${JSON.stringify(entry)}\n`);
      acknowledge(i, [entry.id]);
    }
  },
};

await ways[way]();
