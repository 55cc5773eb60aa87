/**
 * How much memory something holds: heap and buffers before, while it is there, and after it has
 * gone. For processes that run under `--expose-gc`.
 */
import { memoryUsage } from "node:process";
import { setImmediate as turn } from "node:timers/promises";
import type { TimedWork } from "./bench-case.ts";
import { summarize } from "./statistics.ts";

/** What was held, and lets go of it. */
export interface Holding {
  /** How many of those held showed that they are what they should be. */
  readonly sound: number;
  readonly release: () => void | Promise<void>;
}

/** Holds so many of something. */
export type Hold = (count: number) => Holding | Promise<Holding>;

/** What so many of something held: of several rounds, the middle. */
export interface HeldMemory {
  readonly count: number;
  /** How many were sound, in the round with the fewest. */
  readonly sound: number;
  readonly heldBytes: number;
  /** What was still there after all were gone. */
  readonly leftBytes: number;
}

/** Rounds before those that count: tables grow, and code becomes warm, only once. */
const warmUps = 2;
/** What the runtime does meanwhile is in one round or another; what leaks is in each. */
const rounds = 5;

/** Holds and releases in rounds: first those that warm up, then, timed, those that count. */
export async function prepareHeld(hold: Hold, count: number): Promise<TimedWork<HeldMemory>> {
  for (let n = 0; n < warmUps; n += 1) await measure(hold, count);
  return async () => {
    const measured: HeldMemory[] = [];
    for (let n = 0; n < rounds; n += 1) measured.push(await measure(hold, count));
    return {
      count,
      sound: Math.min(...measured.map(({ sound }) => sound)),
      heldBytes: summarize(measured.map(({ heldBytes }) => heldBytes)).median,
      leftBytes: summarize(measured.map(({ leftBytes }) => leftBytes)).median,
    };
  };
}

async function measure(hold: Hold, count: number): Promise<HeldMemory> {
  const beforeBytes = await settledBytes();
  const { sound, release } = await hold(count);
  const heldBytes = (await settledBytes()) - beforeBytes;
  await release();
  const leftBytes = (await settledBytes()) - beforeBytes;
  return { count, sound, heldBytes, leftBytes };
}

/** Heap and buffers in use, once all that is under way has come to its end. */
async function settledBytes(): Promise<number> {
  const { gc } = globalThis;
  if (gc === undefined) throw new Error("node was started without --expose-gc");
  for (let pass = 0; pass < 3; pass += 1) {
    await turn();
    gc();
  }
  const { heapUsed, external } = memoryUsage();
  return heapUsed + external;
}
