/**
 * The queue of the processes that wait for a lock: one ticket each, a file in
 * `<path>.branchlog-queue`, in the order of arrival. Only the first tries to take the lock, so a
 * waiter costs no more than a few checks, and a process that takes the lock again and again does
 * not overtake the others. The queue is advisory: exclusion rests on the lock alone, and a waiter
 * that can have no ticket tries without one.
 */
import { randomBytes } from "node:crypto";
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  rmdirSync,
  statSync,
  unlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { ticketStaleMs } from "../limits.ts";
import type { LockPlace, LockQueue } from "./ports.ts";
import { sidecarPath } from "./sidecar-path.ts";
import { isOfTrusted } from "./trusted-file.ts";

/** Time of arrival in milliseconds since the epoch, process id, and what makes it unique. */
const ticketForm = /^\d{15}-(\d+)-[0-9a-f]{8}$/;

/** How often a ticket is tried that met the removal of the empty queue. */
const joinAttemptsMax = 5;

/** Queues as directories. Never throws. */
export const directoryQueue: LockQueue = {
  isBusySync: (path) => isQueue(queueDirectory(path)),
  joinSync(path) {
    const place = new TicketPlace(queueDirectory(path));
    return place.enterSync() ? place : null;
  },
};

/** Removes the queue for the lock of `path` unless a live process is in it. Never throws. */
export function removeAbandonedTickets(path: string): void {
  const place = directoryQueue.joinSync(path);
  place?.aheadSync();
  place?.leaveSync();
}

function queueDirectory(path: string): string {
  return sidecarPath(path, ".branchlog-queue");
}

/**
 * Whether a queue counts: a directory, not a link to one, into which only this user and root
 * can have put tickets. In any other, the first place could be held without end.
 */
function isQueue(directory: string): boolean {
  let isTrusted = false;
  quietly(() => {
    const stat = lstatSync(directory, { throwIfNoEntry: false });
    isTrusted = stat?.isDirectory() === true && isOfTrusted(stat, process.geteuid?.());
  });
  return isTrusted;
}

/** The place of one waiter. */
class TicketPlace implements LockPlace {
  readonly #directory: string;
  readonly #name: string;
  #touchedMs = 0;
  #isFirst = false;

  constructor(directory: string) {
    this.#directory = directory;
    const arrival = String(Date.now()).padStart(15, "0");
    this.#name = `${arrival}-${process.pid}-${randomBytes(4).toString("hex")}`;
  }

  /** Writes the ticket; false where that is impossible. */
  enterSync(): boolean {
    for (let attempt = 0; attempt < joinAttemptsMax; attempt += 1) {
      // The last of those before may have removed the queue in between.
      quietly(() => mkdirSync(this.#directory, { mode: 0o700 }));
      if (isQueue(this.#directory) && this.#isWritten()) return true;
      if (existsSync(this.#directory)) return false;
    }
    return false;
  }

  #isWritten(): boolean {
    return quietly(() => writeFileSync(this.#ticket(this.#name), "", { mode: 0o600 }));
  }

  aheadSync(): number {
    // No ticket is older than the first.
    const names = this.#isFirst ? [this.#name] : this.#namesSync();
    this.#showLife(names.includes(this.#name));
    const ahead = names.filter((name) => name < this.#name).sort();
    const firstLive = ahead.findIndex((name) => !this.#removeIfAbandoned(name));
    this.#isFirst = firstLive < 0;
    return this.#isFirst ? 0 : ahead.length - firstLive;
  }

  leaveSync(): void {
    quietly(() => unlinkSync(this.#ticket(this.#name)));
    // Fails while others wait.
    quietly(() => rmdirSync(this.#directory));
  }

  #namesSync(): string[] {
    let names: string[] = [];
    quietly(() => (names = readdirSync(this.#directory).filter((name) => ticketForm.test(name))));
    return names;
  }

  /** A ticket that others took for abandoned is written again, with the time of arrival. */
  #showLife(isListed: boolean): void {
    const nowMs = Date.now();
    if (isListed && Math.abs(nowMs - this.#touchedMs) < ticketStaleMs / 4) return;
    this.#touchedMs = nowMs;
    const time = new Date(nowMs);
    if (!isListed || !quietly(() => utimesSync(this.#ticket(this.#name), time, time)))
      this.enterSync();
  }

  #removeIfAbandoned(name: string): boolean {
    const ticket = this.#ticket(name);
    // Wrong about processes of other containers, which lose their place.
    const pid = Number(ticketForm.exec(name)?.[1]);
    if (isLiveProcess(pid) && isFresh(ticket)) return false;
    quietly(() => unlinkSync(ticket));
    return true;
  }

  #ticket(name: string): string {
    return join(this.#directory, name);
  }
}

/** A live owner touches its ticket; one that is gone, or of the future, is not fresh. */
function isFresh(ticket: string): boolean {
  let mtimeMs = Number.NaN;
  quietly(() => ({ mtimeMs } = statSync(ticket)));
  return Math.abs(Date.now() - mtimeMs) < ticketStaleMs;
}

/** Whether it was done: what fails here costs a place in the queue, and nothing else. */
function quietly(work: () => unknown): boolean {
  try {
    work();
    return true;
  } catch {
    return false;
  }
}

/** Whether there is a process with this id, of whatever user. */
export function isLiveProcess(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error instanceof Error && "code" in error && error.code === "EPERM";
  }
}
