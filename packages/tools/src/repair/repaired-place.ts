/** Replaces a log by its repaired copy, under its lock. At every moment one file is complete. */
import { dirname } from "node:path";
import { portStep, readFullySync, readRange } from "@branchlog/streaming";
import type { Steps } from "@branchlog/streaming";
import { BranchlogError, isBranchlogError } from "@branchlog/core";
import type { FileSystem, Ports } from "@branchlog/core/types";
import {
  acquireLock,
  matchesFingerprint,
  createLog,
  LogFile,
  isSameFile,
  keptPaths,
  linkOrCopy,
  quietly,
} from "@branchlog/core/files";
import type { AtomicFile } from "@branchlog/core/files";
import { copyBytes } from "../limits.ts";
import type { RepairPlan } from "./repair-plan.ts";

const newline = 0x0a;

export interface RepairedCopy {
  readonly plan: RepairPlan;
  readonly ports: Ports;
  readonly lockWaitMs: number;
  readonly file: LogFile;
  readonly result: AtomicFile;
}

export interface Replaced {
  readonly original: string;
  readonly lateBytes: number;
}

export function* takePlace(copy: RepairedCopy): Steps<Replaced> {
  const { plan, file, ports, lockWaitMs } = copy;
  const { fs } = ports;
  const { path } = plan;
  const held = yield* acquireLock(path, ports, lockWaitMs);
  let kept: KeptOriginal | undefined;
  try {
    yield portStep("stat");
    requireUnchanged(file, plan);
    yield portStep("link");
    kept = keepOriginal(copy);
    // A power failure must not find the new log under the name, and no original.
    fs.syncDirectorySync(dirname(path));
    yield portStep("check lock");
    if (!held.isOursSync()) throw changed(path);
    yield portStep("stat");
    // An editor may have replaced the log while its directory was synced.
    const there = fs.statSync(path);
    if (there === null || !isSameFile(there, plan.source.stat)) throw changed(path);
    // What is appended to a log of which there is a copy would be lost.
    if (kept.isCopy && there.size !== plan.sizeBytes) throw changed(path);
    yield portStep("rename");
    copy.result.replace();
    copy.result.syncName();
    yield portStep("stat");
    return { original: kept.path, lateBytes: carryOver(copy, kept) };
  } catch (error) {
    if (kept?.isNew === true) forget(fs, kept.path, plan);
    throw error;
  } finally {
    held.releaseSync();
  }
}

export function requireUnchanged(file: LogFile, { path, source }: RepairPlan): void {
  const [now, then] = [file.statSync(), source.stat];
  const isSame =
    now !== null &&
    now.dev === then.dev &&
    now.ino === then.ino &&
    now.size === then.size &&
    now.ctimeMs === then.ctimeMs &&
    matchesFingerprint(file, source.fingerprint);
  if (!isSame) throw changed(path);
}

/** Copies concurrent appends to the original, in one write that ends in a newline. */
function carryOver({ plan, ports, file, result }: RepairedCopy, kept: KeptOriginal): number {
  // A copy does not grow; the original is still open, unless the system refused that.
  const original = kept.isCopy ? file : new LogFile(ports.fs, kept.path);
  const size = kept.isCopy ? file.openSizeSync() : original.statSync()?.size;
  const lateBytes = (size ?? 0) - plan.sizeBytes;
  if (lateBytes <= 0) return 0;
  const lines = readFullySync(original, Buffer.alloc(lateBytes), plan.sizeBytes);
  const isTerminated = lines.at(-1) === newline;
  result.add(isTerminated ? lines : Buffer.concat([lines, Buffer.of(newline)]));
  result.syncSync();
  return lateBytes;
}

/** Only if the original still has its first name. */
function forget(fs: FileSystem, name: string, { path, source }: RepairPlan): void {
  quietly(() => {
    if (fs.statSync(path)?.ino === source.stat.ino) fs.unlinkSync(name);
  });
}

function changed(path: string): BranchlogError {
  const message =
    `${path} changed since its repair was planned: another program writes to it. It was not ` +
    "changed. Close that program, and repair again.";
  return new BranchlogError("ERR_LOG_CHANGED", message, { path });
}

interface KeptOriginal {
  readonly path: string;
  readonly isNew: boolean;
  /** Where the file system has no links. */
  readonly isCopy: boolean;
}

function keepOriginal({ plan, ports, file }: RepairedCopy): KeptOriginal {
  return firstFree(plan.path, ".before-repair", (name) => {
    const taken = ports.fs.statSync(name);
    if (taken !== null && !isSameFile(taken, plan.source.stat)) return null;
    const bytes = (): Iterable<Buffer> => readRange(file, 0, plan.sizeBytes, copyBytes);
    const isLink = taken !== null || linkOrCopy(ports, { path: file.path, name }, bytes);
    return { path: name, isNew: taken === null, isCopy: !isLink };
  });
}

export function createSalvage(ports: Ports, path: string, chunks: () => Iterable<Buffer>): string {
  return firstFree(path, ".salvage", (name) => {
    if (ports.fs.statSync(name) !== null) return null;
    createLog(ports, name, chunks());
    return name;
  });
}

function firstFree<T>(path: string, ending: string, take: (name: string) => T | null): T {
  const names = keptPaths(path, ending);
  for (;;) {
    try {
      const taken = take(names.next().value);
      if (taken !== null) return taken;
    } catch (error) {
      // Another process took the name since it was checked.
      if (!isBranchlogError(error, "ERR_LOG_EXISTS")) throw error;
    }
  }
}
