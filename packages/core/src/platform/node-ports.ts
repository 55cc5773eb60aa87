/** Ports for sessions in files of this machine. */
import { watchDirectory } from "@branchlog/streaming";
import { lockfileLock } from "./lockfile-lock.ts";
import { nodeFileSystem } from "./node-file-system.ts";
import type { Ports } from "./ports.ts";
import { randomIds } from "./ids.ts";
import { systemClock } from "./ports.ts";

/** The default ports of the engine. */
export const nodePorts: Ports = {
  fs: nodeFileSystem,
  lock: lockfileLock,
  hints: { watch: watchDirectory },
  clock: systemClock,
  ids: randomIds,
};
