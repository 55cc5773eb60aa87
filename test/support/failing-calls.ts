/**
 * Makes the n-th call of a file system fail, in every way in which one can: for tests that go
 * through all n until nothing is left to fail.
 */
import { createRandom } from "@branchlog/bench/generator";
import { MemoryFileSystem, createMemoryPorts, fileError } from "@branchlog/core/testing";
import type { FileErrorCode, FileSystem, Ports } from "@branchlog/core/testing";
import { dirname } from "node:path";
import { runs, seed } from "./fault-seed.ts";
import { observedFileSystem } from "./observed-file-system.ts";
import type { ObservedCall } from "./observed-file-system.ts";
import { reproducible } from "./reproducible-ports.ts";

/** A way to fail. */
export interface Failure {
  /** Calls that can fail in this way; only they are counted. */
  readonly concerns: (call: ObservedCall) => boolean;
  /** The error it fails with; null: a write that takes half of its bytes. */
  readonly code: FileErrorCode | null;
  /** The call has its effect before it fails. */
  readonly hasEffect?: boolean;
  /** All later calls that it concerns fail, too, with this error. */
  readonly later?: FileErrorCode;
}

const any = (): boolean => true;
const isWrite = ({ name }: ObservedCall): boolean => name === "writeSync";
const takesSpace = ({ name }: ObservedCall): boolean =>
  name === "writeSync" || name === "linkSync" || name === "makeDirectorySync";

/** The ways to fail, by name. */
export const failures: Readonly<Record<string, Failure>> = {
  EIO: { concerns: any, code: "EIO" },
  ENOSPC: { concerns: any, code: "ENOSPC" },
  EAGAIN: { concerns: any, code: "EAGAIN" },
  "a short write": { concerns: isWrite, code: null },
  "a failed sync": { concerns: isSync, code: "EIO" },
  "EIO after the effect": { concerns: any, code: "EIO", hasEffect: true },
  "EIO from there on": { concerns: any, code: "EIO", later: "EIO" },
  "a full disk from there on": { concerns: takesSpace, code: "ENOSPC", later: "ENOSPC" },
  "half a write, then a full disk": { concerns: isWrite, code: null, later: "ENOSPC" },
};

/** A file system that fails once it is armed. */
export interface FailingFileSystem {
  readonly fs: FileSystem;
  /** Lets the n-th call from here on fail (counted from 0). */
  arm(n: number, failure: Failure): void;
  /** From now on every call works; says whether one had failed. */
  disarm(): boolean;
}

/** Whether a failure of this call is one to sync. */
export function isSync({ name }: ObservedCall): boolean {
  return name === "fdatasyncSync" || name === "fdatasync" || name === "syncDirectorySync";
}

/** See {@link FailingFileSystem}. `onFailure` hears of each call that is about to fail. */
export function failingFileSystem(
  inner: FileSystem,
  onFailure: (call: ObservedCall) => void = () => undefined,
): FailingFileSystem {
  let armed: { failure: Failure; left: number } | undefined;
  let hasFailed = false;
  /** The error of this call; null: it is cut in half; undefined: it works. */
  const codeFor = (call: ObservedCall): FileErrorCode | null | undefined => {
    if (armed === undefined || !armed.failure.concerns(call)) return undefined;
    armed.left -= 1;
    if (armed.left >= 0) return undefined;
    const { code, later } = armed.failure;
    const found = armed.left === -1 ? code : later;
    hasFailed ||= found !== undefined;
    return found;
  };
  const fs = observedFileSystem(inner, (call, effect) => {
    const code = codeFor(call);
    if (code === undefined) return effect();
    if (code === null) return effect(Math.floor((call.bytes ?? 0) / 2));
    onFailure(call);
    if (armed?.failure.hasEffect === true) effect();
    throw fileError(code, call.name.replace(/Sync$/u, ""), call.path);
  });
  return {
    fs,
    arm: (n, failure) => {
      armed = { failure, left: n };
      hasFailed = false;
    },
    disarm: () => {
      armed = undefined;
      return hasFailed;
    },
  };
}

/** A file system in memory, and ports over it that fail once they are armed. */
export interface FailingWorld {
  readonly memory: MemoryFileSystem;
  readonly failing: FailingFileSystem;
  readonly ports: Ports;
}

/** A world in which these files are there, by path. */
export function failingWorld(files: Readonly<Record<string, Buffer | string>> = {}): FailingWorld {
  const memory = new MemoryFileSystem();
  for (const [path, content] of Object.entries(files)) {
    memory.makeDirectorySync(dirname(path));
    memory.writeFileSync(path, Buffer.from(content));
  }
  const failing = failingFileSystem(memory);
  return { memory, failing, ports: createMemoryPorts({ fs: failing.fs, ...reproducible() }) };
}

/**
 * Runs `attempt` with a new world for n = 0, 1, 2, … until no call is left to fail: for each in a
 * soak, else for a third of them, with the first and the last. Returns how many calls there are.
 * The attempt arms, runs and disarms; it returns what `disarm` said.
 */
export async function failEveryCall(
  attempt: (n: number) => boolean | Promise<boolean>,
): Promise<number> {
  const random = createRandom(seed);
  let n = 0;
  while (await attempt(n)) n += 1 + random.below(runs(5, 1));
  // Down to the last call of those that were skipped.
  while (n > 0 && !(await attempt(n - 1))) n -= 1;
  return n;
}
