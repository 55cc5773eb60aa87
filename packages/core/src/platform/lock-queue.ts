/**
 * The queue of the waiters for a lock: the directory `<path>.branchlog-queue` with a file, the
 * ticket, for each, in the order of arrival. Its modification time is when its owner will check
 * again: a late owner is skipped until it checks, and keeps its place; the ticket of an ended
 * one is removed. The queue is advisory, and a waiter that cannot write a ticket competes without
 * one.
 */
import { randomBytes } from "node:crypto";
import fs from "node:fs";
import { join } from "node:path";
import { lockPauseMsMax, ticketGraceMs, ticketStaleMs } from "../limits.ts";
import { quietly } from "./ports.ts";
import type { LockPlace, LockQueue } from "./ports.ts";
import { ownProcessName, processState } from "./process-name.ts";
import { isOfTrusted, sidecarPath } from "./sidecar.ts";

/** Time of arrival in milliseconds since the epoch, name of the process, and random digits. */
const ticketForm = /^\d{15}-([\da-f.]+)-[\da-f]{8}$/;

/** For an empty queue that is removed while a ticket is written. */
const joinAttemptsMax = 5;

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

/** Only this user and root can put tickets there: others could hold the first place forever. */
function isQueue(directory: string): boolean {
  const stat = quietly(() => fs.lstatSync(directory, { throwIfNoEntry: false }));
  return stat?.isDirectory() === true && isOfTrusted(stat, process.geteuid?.());
}

class TicketPlace implements LockPlace {
  readonly #directory: string;
  readonly #name: string;
  /** Tickets in front, oldest first, as read on entering: later ones come after them. */
  #front: string[] = [];
  #isFirst = false;

  constructor(directory: string) {
    this.#directory = directory;
    const arrival = String(Date.now()).padStart(15, "0");
    this.#name = `${arrival}-${ownProcessName()}-${randomBytes(4).toString("hex")}`;
  }

  enterSync(): boolean {
    for (let attempt = 0; attempt < joinAttemptsMax; attempt += 1) {
      // The owner of the last ticket before may have removed the queue in between.
      quietly(() => fs.mkdirSync(this.#directory, { mode: 0o700 }));
      const ticket = join(this.#directory, this.#name);
      const write = (): void => fs.writeFileSync(ticket, "", { mode: 0o600 });
      if (isQueue(this.#directory) && quietly(write) !== null) {
        this.#front = this.#listFront();
        return true;
      }
      if (fs.existsSync(this.#directory)) return false;
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
    if (quietly(() => fs.utimesSync(ticket, until, until)) === null) this.enterSync();
  }

  leaveSync(): void {
    quietly(() => fs.unlinkSync(join(this.#directory, this.#name)));
    // Fails while others wait.
    quietly(() => fs.rmdirSync(this.#directory));
  }

  #listFront(): string[] {
    const names = quietly(() => fs.readdirSync(this.#directory)) ?? [];
    return names.filter((name) => ticketForm.test(name) && name < this.#name).toSorted();
  }
}

function stateOf(path: string, name: string): "gone" | "late" | "waiting" {
  const lateMs = Date.now() - (quietly(() => fs.statSync(path).mtimeMs) ?? Number.NaN);
  const owner = processState(ticketForm.exec(name)?.[1] ?? "");
  const isStale = Number.isNaN(lateMs) || lateMs > ticketStaleMs || isFarAhead(lateMs);
  if (owner === "ended" || (owner === "unknown" && isStale)) {
    quietly(() => fs.unlinkSync(path));
    return "gone";
  }
  if (Number.isNaN(lateMs)) return "gone";
  return lateMs > ticketGraceMs || isFarAhead(lateMs) ? "late" : "waiting";
}

/** Beyond the longest pause: its clock, or the one of this process, was set. */
function isFarAhead(lateMs: number): boolean {
  return -lateMs > lockPauseMsMax + ticketGraceMs;
}
