/** What is known of one session of a directory, and how it is made from the facts of its file. */
import type { DialectName } from "../dialects/dialect.ts";
import type { SourceKind } from "../dialects/foreign-record.ts";
import type { SessionHeader } from "../entries/entry-types.ts";
import { storedTimeMs } from "../projections/stored-value.ts";
import type { SessionSummary } from "../projections/summary.ts";
import type { SessionFacts } from "./session-facts.ts";
import type { SessionFile } from "./session-files.ts";
import type { TranscriptFacts } from "./transcript-scan.ts";

/** It does not change; a session that changed is another one. */
export interface ListedSession {
  /** Of the session file. */
  readonly path: string;
  /** As stored: foreign files may lack any field but the id. */
  readonly header: SessionHeader;
  /** The name in force; undefined if it has none or it was cleared. */
  readonly name: string | undefined;
  /** Messages of every role and branch, the first text of a user, the time of the last message. */
  readonly summary: SessionSummary;
  /** Which agent wrote it, by the traces that it left; of a transcript, that of its entries. */
  readonly dialect: DialectName;
  /** Absent for a session of pi or omp. */
  readonly transcript?: ListedTranscript;
  /** When a user or an assistant last spoke, else the time in the header, else of the file. */
  readonly modifiedMs: number;
  /** Length of the file in bytes. */
  readonly sizeBytes: number;
}

/** What only the transcripts of other agents have in lists. */
export interface ListedTranscript {
  readonly of: SourceKind;
  /** In order of their first answers. */
  readonly models: readonly string[];
  /** Input, output, and what was read from and written to the cache. */
  readonly tokens: number;
  /** Whether all of it is a sub-agent's: its header names the session that started it. */
  readonly isSubagent: boolean;
}

/** See {@link ListedSession}. */
export function listedSession(
  file: SessionFile,
  facts: SessionFacts | TranscriptFacts,
): ListedSession {
  const { path, size: sizeBytes } = file;
  const { header, name, summary } = facts;
  const shared = { path, header, name, summary, modifiedMs: modifiedMs(file, facts), sizeBytes };
  return "transcript" in facts
    ? { ...shared, dialect: "pi", transcript: facts.transcript }
    : { ...shared, dialect: facts.dialect };
}

/** Epoch ms of what counts as the last change of a session; a time that a Date can hold. */
function modifiedMs(
  file: SessionFile,
  { header, summary }: SessionFacts | TranscriptFacts,
): number {
  const { lastActivityMs = Number.NaN } = summary;
  // Decoding boundary: of the header only the id was checked.
  const started: unknown = header.timestamp;
  const startedMs = typeof started === "string" ? storedTimeMs(started) : Number.NaN;
  const times = [lastActivityMs, startedMs, file.mtimeMs];
  return times.find((time) => !Number.isNaN(new Date(time).getTime())) ?? 0;
}

// Items in a total order, whatever the order of their arrival.

/** Taking in and out is a search and a move, no sort. */
export class Ranking<T> {
  readonly #comesBefore: (one: T, other: T) => boolean;
  readonly #ranked: T[] = [];

  constructor(comesBefore: (one: T, other: T) => boolean) {
    this.#comesBefore = comesBefore;
  }

  add(item: T): void {
    this.#ranked.splice(this.#placeOf(item), 0, item);
  }

  /** Takes out what has the place of an item, which is the item itself if it was added. */
  remove(item: T): void {
    this.#ranked.splice(this.#placeOf(item), 1);
  }

  /** All of them, as an array of the caller's own. */
  items(): T[] {
    return this.#ranked.slice();
  }

  /** How many come before an item. */
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
