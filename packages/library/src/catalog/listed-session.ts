/** A session in a list, made from the facts of its file. */
import type { DialectName } from "@branchlog/core/entries";
import type { SessionSummary } from "@branchlog/core/types";
import type { SessionHeader } from "@branchlog/core";
import { storedTimeMs } from "@branchlog/core/rows";
import type { RowFacts } from "@branchlog/core/rows";
import type { SessionFacts } from "./session-facts.ts";
import type { SessionFile } from "./session-files.ts";
import type { ListedActivity } from "./listed-activity.ts";
import type { ListedUsage } from "./listed-usage.ts";
import type { ListedTranscript, TranscriptFacts } from "./transcript-scan.ts";

/** Immutable; a changed session is a new object. */
export interface ListedSession {
  /** Of the session file. */
  readonly path: string;
  /** As stored: foreign files may lack any field but the id. */
  readonly header: SessionHeader;
  /** The name in force; undefined if it has none or it was cleared. */
  readonly name: string | undefined;
  /** Counts all roles and branches. */
  readonly summary: ListedSummary;
  /** Absent if unknown, as of what was archived. */
  readonly usage?: ListedUsage | undefined;
  /** Absent like `usage`. */
  readonly activity?: ListedActivity | undefined;
  /** Which agent wrote it, by its content; of a transcript, the dialect of its entries. */
  readonly dialect: DialectName;
  /** Absent for a session of pi or omp. */
  readonly transcript?: ListedTranscript;
  /** Epoch ms of the last message of a user or assistant, else of the header, else of the file. */
  readonly modifiedMs: number;
  /** Length of the file in bytes; undefined if it was not read, see `FindOptions.unread`. */
  readonly sizeBytes: number | undefined;
}

export interface ListedSummary extends Omit<SessionSummary, "messageCount"> {
  /** Undefined if it was not read. */
  readonly messageCount: number | undefined;
}

type ListedFile = Pick<SessionFile, "path" | "size" | "mtimeMs">;

export function listedSession(
  file: ListedFile,
  facts: SessionFacts | TranscriptFacts,
): ListedSession {
  const { path, size: sizeBytes } = file;
  const { header, name, summary, usage, activity } = facts;
  const said = { path, header, name, summary, usage, activity };
  const shared = { ...said, modifiedMs: modifiedMs(file, facts), sizeBytes };
  return "transcript" in facts
    ? { ...shared, dialect: "pi", transcript: facts.transcript }
    : { ...shared, dialect: facts.dialect };
}

/** Before it was read: what its rows say. */
export function unreadSession(
  path: string,
  { header, name, lastMs }: RowFacts,
  transcript: ListedTranscript,
): ListedSession {
  const summary = { messageCount: undefined, firstMessage: undefined, lastActivityMs: lastMs };
  const shared = { path, header, name, summary, modifiedMs: lastMs, sizeBytes: undefined };
  return { ...shared, dialect: "pi", transcript };
}

/** Always a time that a Date can hold. */
function modifiedMs(file: ListedFile, { header, summary }: SessionFacts | TranscriptFacts): number {
  const { lastActivityMs = Number.NaN } = summary;
  // Decoding boundary: of the header only the id was checked.
  const started: unknown = header.timestamp;
  const startedMs = typeof started === "string" ? storedTimeMs(started) : Number.NaN;
  const times = [lastActivityMs, startedMs, file.mtimeMs];
  return times.find((time) => !Number.isNaN(new Date(time).getTime())) ?? 0;
}

/** A sorted list; insertion is a binary search. */
export class Ranking<T> {
  readonly #comesBefore: (one: T, other: T) => boolean;
  readonly #ranked: T[] = [];

  constructor(comesBefore: (one: T, other: T) => boolean) {
    this.#comesBefore = comesBefore;
  }

  add(item: T): void {
    this.#ranked.splice(this.#placeOf(item), 0, item);
  }

  /** Nothing, if it is not there. */
  remove(item: T): void {
    const place = this.#placeOf(item);
    const at = this.#ranked[place] === item ? place : this.#ranked.indexOf(item);
    if (at >= 0) this.#ranked.splice(at, 1);
  }

  at(place: number): T | undefined {
    return this.#ranked[place];
  }

  items(): T[] {
    return this.#ranked.slice();
  }

  #placeOf(item: T): number {
    let low = 0;
    let high = this.#ranked.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      const other = this.#ranked[middle];
      if (other !== undefined && this.#comesBefore(other, item)) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
