/**
 * Transcripts of other agents as dialects: records give rows while the log is indexed, and bodies
 * on demand. No I/O.
 */
import type { JsonObject } from "@branchlog/streaming";
import type { SessionHeader } from "../entries/entry-types.ts";
import type { Usage } from "../entries/message-types.ts";
import { malformed } from "../entries/saved-fields.ts";
import type { SavedFields } from "../entries/saved-fields.ts";
import { readHeader } from "./header.ts";

/** An entry without its body. */
export interface TranscriptRow {
  readonly id: string;
  readonly parentId: string | null;
  readonly type: string;
  readonly role?: string;
  readonly customType?: string;
  /** Without one, that of the record before. */
  readonly timeMs: number;
}

export interface TranscriptPlace {
  readonly id: string;
  readonly parentId: string | null;
  /** ISO 8601. */
  readonly timestamp: string;
  /** Nearest first, read lazily. */
  readonly above: () => Iterable<JsonObject>;
}

export interface SpentAnswer {
  readonly provider: string;
  readonly model: string;
  readonly usage: Usage;
}

export interface Transcript {
  /** Undefined before a record names the session. */
  readonly header: SessionHeader | undefined;
  readonly name: string | undefined;
  /** Whether all of it is a subagent's. */
  readonly isSubagent: boolean;
  /** The last entry of the conversation; of a subagent only if there is no other. */
  readonly tailId: string | null;
  /** What the last record repeats; undefined: nothing. */
  readonly repetition: string | undefined;
  /** Empty if the id repeats: the earlier record counts. */
  add(record: JsonObject, line: number): readonly TranscriptRow[];
  /** What the next records depend on, as JSON. */
  save(): object;
  /** Only before any record is added. Throws `TypeError` for what was not saved. */
  restore(saved: SavedFields): void;
  /** What the entry of an answer says of its cost, without its body and those of others. */
  spentBy(record: JsonObject, id: string): SpentAnswer;
  /** Undefined if the record does not match that row. */
  entryOf(record: JsonObject, place: TranscriptPlace): JsonObject | undefined;
}

/** Undefined if none was saved. */
export function savedHeader(saved: SavedFields): SessionHeader | undefined {
  if (!saved.has("header")) return undefined;
  const reading = readHeader(saved.stored("header"));
  if (reading.kind === "not-header") throw malformed("header");
  return reading.header;
}

/** The place of a row before it is indexed. */
export function placeOf(
  { id, parentId, timeMs }: TranscriptRow,
  above: TranscriptPlace["above"],
): TranscriptPlace {
  return { id, parentId, timestamp: timeText(timeMs), above };
}

export function timeText(timeMs: number): string {
  return new Date(timeMs).toISOString();
}
