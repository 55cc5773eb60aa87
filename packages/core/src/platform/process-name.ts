/**
 * Names by which other processes can tell that one has ended, for locks and their queues. A process
 * id alone proves nothing: it is reused, and belongs to another process in another container. A
 * name adds the start time and a digest of boot id and namespaces. If one of these is unavailable,
 * as on systems other than Linux, no process is ever reported as ended.
 */
import { createHash } from "node:crypto";
import { readFileSync, readlinkSync } from "node:fs";
import { errorCodeOf, quietly } from "./ports.ts";

/** `unknown`: it ran on another boot or in another container, or cannot be examined. */
export type ProcessState = "running" | "ended" | "unknown";

/** Process id; and, if available, start time in clock ticks since boot, and the digest. */
const nameForm = /^([1-9]\d{0,9})(?:\.(\d{1,20})\.([0-9a-f]{32}))?$/;

let ownName: string | undefined;

export function ownProcessName(): string {
  return (ownName ??= nameOfThis());
}

export function processIdOf(name: string): number | null {
  const id = nameForm.exec(name)?.[1];
  return id === undefined ? null : Number(id);
}

export function processState(name: string): ProcessState {
  const [, id, startTicks, digest] = nameForm.exec(name) ?? [];
  if (digest === undefined || digest !== nameForm.exec(ownProcessName())?.[3]) return "unknown";
  if (!isLiveProcess(Number(id))) return "ended";
  const status = statusOf(`/proc/${id}/stat`);
  if (status === null) return "unknown";
  return status.startTicks !== startTicks || status.isZombie ? "ended" : "running";
}

/** Whether there is a process with this id in this container, of any user. */
export function isLiveProcess(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return errorCodeOf(error) !== "ESRCH";
  }
}

function nameOfThis(): string {
  const pid = String(process.pid);
  const status = statusOf("/proc/self/stat");
  const boot = quietly(() => readFileSync("/proc/sys/kernel/random/boot_id", "latin1"));
  const pids = quietly(() => readlinkSync("/proc/self/ns/pid"));
  // A /proc mounted by another container has other processes under our ids.
  const isOurProc = quietly(() => readlinkSync("/proc/self")) === pid;
  if (status === null || boot === null || pids === null || !isOurProc) return pid;
  // Start times differ between time namespaces; kernels before 5.6 have none.
  const times = quietly(() => readlinkSync("/proc/self/ns/time"));
  const digest = createHash("sha256")
    .update(JSON.stringify([boot, pids, times]))
    .digest("hex");
  return `${pid}.${status.startTicks}.${digest.slice(0, 32)}`;
}

interface ProcessStatus {
  readonly startTicks: string;
  /** It was killed, or has exited, and its parent does not know yet: none of its threads runs. */
  readonly isZombie: boolean;
}

function statusOf(path: string): ProcessStatus | null {
  const text = quietly(() => readFileSync(path, "latin1"));
  return text === null ? null : parseStatus(text);
}

/** Parses `/proc/<pid>/stat`, see proc_pid_stat(5); null if it has another form. */
export function parseStatus(text: string): ProcessStatus | null {
  // The second field is the program's name in parentheses, which may contain any character.
  const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
  const [state, threadCount, startTicks] = [fields[0], fields[17], fields[19]];
  if (threadCount === undefined || startTicks === undefined || !/^\d+$/.test(startTicks))
    return null;
  // A main thread that has ended is a zombie, too, while other threads run.
  return { startTicks, isZombie: /^[ZXx]$/.test(state ?? "") && Number(threadCount) <= 1 };
}
