/** Every case, in the order in which they run. */
import type { BenchCase } from "./bench-case.ts";
import { benchCase as appendInFlight } from "./cases/append-in-flight.ts";
import { benchCase as appendProcesses } from "./cases/append-processes.ts";
import { benchCase as appendSync } from "./cases/append-sync.ts";
import { benchCase as firstContext } from "./cases/first-context.ts";
import { benchCase as getChildren } from "./cases/get-children.ts";
import { benchCase as getTree } from "./cases/get-tree.ts";
import { benchCase as indexThroughput } from "./cases/index-throughput.ts";
import { benchCase as latestCustom } from "./cases/latest-custom.ts";
import { benchCase as lineCost } from "./cases/line-cost.ts";
import { benchCase as listSessions } from "./cases/list-sessions.ts";
import { benchCase as liveContext } from "./cases/live-context.ts";
import { benchCase as liveFanOut } from "./cases/live-fan-out.ts";
import { benchCase as liveMemory } from "./cases/live-memory.ts";
import { benchCase as memory1gb } from "./cases/memory-1gb.ts";
import { benchCase as memory1mEntries } from "./cases/memory-1m-entries.ts";
import { benchCase as memory4gb } from "./cases/memory-4gb.ts";
import { benchCase as memory4mEntries } from "./cases/memory-4m-entries.ts";
import { benchCase as memoryImages } from "./cases/memory-images.ts";
import { benchCase as memoryLongLines } from "./cases/memory-long-lines.ts";
import { benchCase as nextContext20k } from "./cases/next-context-20k.ts";
import { benchCase as nextContext } from "./cases/next-context.ts";
import { benchCase as open100mb } from "./cases/open-100mb.ts";
import { benchCase as open1gb } from "./cases/open-1gb.ts";
import { benchCase as reopen1gb } from "./cases/reopen-1gb.ts";
import { benchCase as shapeContext } from "./cases/shape-context.ts";
import { benchCase as shapeOpen } from "./cases/shape-open.ts";
import { benchCase as shapeTree } from "./cases/shape-tree.ts";
import { benchCase as streamBodies } from "./cases/stream-bodies.ts";
import { benchCase as watchLatency } from "./cases/watch-latency.ts";

/** Each in the file of its name. */
export const cases: readonly BenchCase[] = [
  lineCost,
  indexThroughput,
  open100mb,
  open1gb,
  reopen1gb,
  firstContext,
  nextContext,
  nextContext20k,
  appendSync,
  appendInFlight,
  appendProcesses,
  getTree,
  getChildren,
  latestCustom,
  streamBodies,
  listSessions,
  shapeOpen,
  shapeContext,
  shapeTree,
  memory1gb,
  memory1mEntries,
  memoryImages,
  memoryLongLines,
  memory4gb,
  memory4mEntries,
  watchLatency,
  liveContext,
  liveFanOut,
  liveMemory,
];
