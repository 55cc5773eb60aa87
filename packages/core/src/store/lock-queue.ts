/**
 * The queue of the processes that wait for a lock: one ticket each, a file in
 * `<path>.branchlog-queue`, in the order of arrival. Its modification time is when its owner will
 * check again. A ticket is removed when its owner has ended; an owner that is late is passed over
 * until it checks, and keeps its place. The queue is advisory: exclusion rests on the lock alone,
 * and a waiter that cannot write a ticket competes without one.
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
import { lockPauseMsMax, ticketGraceMs, ticketStaleMs } from "../limits.ts";
import type { LockPlace, LockQueue } from "./ports.ts";
import { ownProcessName, processState } from "./process-name.ts";
import { sidecarPath } from "./sidecar-path.ts";
import { isOfTrusted } from "./trusted-file.ts";

/** Time of arrival in milliseconds since the epoch, name of the process, and random digits. */
const ticketForm = /^\d{15}-([\da-f.]+)-[\da-f]{8}$/;

/** How often a ticket is written again when the empty queue is removed at the same time. */
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
  /**
   * Tickets in front, oldest first: read when this one is written, as later ones are behind. Owners
   * that have ended in the middle count until those before them are gone.
   */
  #front: string[] = [];
  #isFirst = false;

  constructor(directory: string) {
    this.#directory = directory;
    const arrival = String(Date.now()).padStart(15, "0");
    this.#name = `${arrival}-${ownProcessName()}-${randomBytes(4).toString("hex")}`;
  }

  /** Writes the ticket; false where that is impossible. */
  enterSync(): boolean {
    for (let attempt = 0; attempt < joinAttemptsMax; attempt += 1) {
      // The owner of the last ticket before may have removed the queue in between.
      quietly(() => mkdirSync(this.#directory, { mode: 0o700 }));
      if (isQueue(this.#directory) && this.#write()) {
        this.#front = this.#listFront();
        return true;
      }
      if (existsSync(this.#directory)) return false;
    }
    return false;
  }

  aheadSync(): number {
    const ahead = this.#countFront();
    if (ahead > 0 || this.#isFirst) return ahead;
    // Others may have arrived in the same millisecond, after the list was read.
    this.#front = this.#listFront();
    const again = this.#countFront();
    this.#isFirst = again === 0;
    return again;
  }

  #countFront(): number {
    let late = 0;
    for (let ticket = this.#front[late]; ticket !== undefined; ticket = this.#front[late]) {
      const state = stateOf(join(this.#directory, ticket), ticket);
      if (state === "waiting") return this.#front.length - late;
      if (state === "late") late += 1;
      else this.#front.splice(late, 1);
    }
    return 0;
  }

  pauseSync(ms: number): void {
    const until = new Date(Date.now() + ms);
    const ticket = join(this.#directory, this.#name);
    // Removed by a process in another container that saw no sign of this one for too long.
    if (!quietly(() => utimesSync(ticket, until, until))) this.enterSync();
  }

  leaveSync(): void {
    quietly(() => unlinkSync(join(this.#directory, this.#name)));
    // Fails while others wait.
    quietly(() => rmdirSync(this.#directory));
  }

  #write(): boolean {
    return quietly(() => writeFileSync(join(this.#directory, this.#name), "", { mode: 0o600 }));
  }

  #listFront(): string[] {
    let names: string[] = [];
    quietly(() => (names = readdirSync(this.#directory)));
    return names.filter((name) => ticketForm.test(name) && name < this.#name).toSorted();
  }
}

/** What is known of a ticket; one whose owner has ended is removed. */
function stateOf(path: string, name: string): "gone" | "late" | "waiting" {
  let dueMs = Number.NaN;
  quietly(() => ({ mtimeMs: dueMs } = statSync(path)));
  const lateMs = Date.now() - dueMs;
  const owner = processState(ticketForm.exec(name)?.[1] ?? "");
  const isStale = Number.isNaN(lateMs) || lateMs > ticketStaleMs || isFarAhead(lateMs);
  if (owner === "ended" || (owner === "unknown" && isStale)) {
    quietly(() => unlinkSync(path));
    return "gone";
  }
  if (Number.isNaN(lateMs)) return "gone";
  return lateMs > ticketGraceMs || isFarAhead(lateMs) ? "late" : "waiting";
}

/** Beyond the longest pause: its clock, or the one of this process, was set. */
function isFarAhead(lateMs: number): boolean {
  return -lateMs > lockPauseMsMax + ticketGraceMs;
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
