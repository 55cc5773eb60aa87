/**
 * Puts a repaired copy in the place of its log, under the log's lock: only if the log is still the
 * one that was copied, and only once the original has a second name. At every moment either the
 * original or the copy, whole, has the name of the log.
 */
import { dirname } from "node:path";
import { BranchlogError } from "@branchlog/core";
import type { FileSystem, Ports } from "@branchlog/core/types";
import { acquireLock, closeQuietly, matchesFingerprint, portStep } from "@branchlog/core/internal";
import type { AtomicFile, LogFile, Steps } from "@branchlog/core/internal";
import { keepOriginal } from "./kept-files.ts";
import type { KeptOriginal } from "./kept-files.ts";
import type { RepairPlan } from "./repair-plan.ts";

const newline = 0x0a;

/** A checked copy, ready to take the place of its log. */
export interface RepairedCopy {
  readonly plan: RepairPlan;
  readonly ports: Ports;
  readonly lockWaitMs: number;
  /** The log, as it was copied. */
  readonly file: LogFile;
  readonly result: AtomicFile;
}

/** What became of the original. */
export interface Replaced {
  /** Where it is now. */
  readonly original: string;
  /** Bytes that others appended to it at the last moment; they are in the new log, too. */
  readonly lateBytes: number;
}

/**
 * Puts the copy in place.
 * @throws BranchlogError `ERR_LOG_CHANGED`, `ERR_LOCK_TIMEOUT`; what the file system throws.
 */
export function* takePlace(copy: RepairedCopy): Steps<Replaced> {
  const { plan, file, ports, lockWaitMs } = copy;
  const { fs } = ports;
  const { path } = plan;
  const held = yield* acquireLock(path, ports, lockWaitMs);
  let original: number | undefined;
  let kept: KeptOriginal | undefined;
  try {
    yield portStep("stat");
    requireUnchanged(file, plan);
    original = fs.openSync(path, "read");
    yield portStep("link");
    kept = keepOriginal(ports, path, plan.source.stat);
    // A loss of power must not find the new log under the name, and no original.
    fs.syncDirectorySync(dirname(path));
    yield portStep("check lock");
    if (!held.isOursSync()) throw changed(path);
    yield portStep("rename");
    copy.result.replace();
    copy.result.syncName();
    yield portStep("stat");
    return { original: kept.path, lateBytes: carryOver(copy, original) };
  } catch (error) {
    if (kept?.isNew === true) forget(fs, kept.path, plan);
    throw error;
  } finally {
    if (original !== undefined) closeQuietly(fs, original);
    held.releaseSync();
  }
}

/**
 * Makes sure that the log is the one that was planned for, to the byte.
 * @throws BranchlogError `ERR_LOG_CHANGED`.
 */
export function requireUnchanged(file: LogFile, { path, source }: RepairPlan): void {
  const [now, then] = [file.statSync(), source.stat];
  const isSame =
    now !== null &&
    now.dev === then.dev &&
    now.ino === then.ino &&
    now.size === then.size &&
    now.ctimeMs === then.ctimeMs &&
    matchesFingerprint(file, source.identity);
  if (!isSame) throw changed(path);
}

/**
 * A writer without our lock may have appended to the original since it was read: that must not
 * stay behind. One write that ends in a newline, since others may append to the new log already.
 */
function carryOver({ plan, ports, result }: RepairedCopy, original: number): number {
  const { fs } = ports;
  const late = Buffer.alloc(fs.fstatSync(original).size - plan.bytes);
  let done = 0;
  while (done < late.length) {
    const count = fs.readSync(original, late, done, late.length - done, plan.bytes + done);
    if (count === 0) break;
    done += count;
  }
  if (done === 0) return 0;
  const isTerminated = late[done - 1] === newline;
  const lines = late.subarray(0, done);
  result.add(isTerminated ? lines : Buffer.concat([lines, Buffer.of(newline)]));
  result.syncSync();
  return done;
}

/** Takes the second name away again, if the original still has its first one. */
function forget(fs: FileSystem, name: string, { path, source }: RepairPlan): void {
  try {
    if (fs.statSync(path)?.ino === source.stat.ino) fs.unlinkSync(name);
  } catch {
    // It stays as a second name of the log; the next repair finds it there.
  }
}

function changed(path: string): BranchlogError {
  const message =
    `${path} changed since its repair was planned: another program writes to it. It was left as ` +
    "it is. Close that program, and repair again.";
  return new BranchlogError("ERR_LOG_CHANGED", message, { path });
}
