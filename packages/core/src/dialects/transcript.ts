/**
 * The transcripts of other agents as dialects: each record gives entries with their place in the
 * tree while the log is indexed, and their bodies on demand. No I/O.
 */
import type { JsonObject } from "@branchlog/streaming";
import { isValidSessionId } from "../entries/identifiers.ts";
import type { SessionHeader } from "../entries/entry-types.ts";
import type { SourceKind } from "./foreign-record.ts";

/** What a record adds to the index: an entry without its body. */
export interface TranscriptRow {
  readonly id: string;
  readonly parentId: string | null;
  readonly type: string;
  readonly role?: string;
  readonly customType?: string;
  /** ISO 8601; that of the record before, if this one has none. */
  readonly timestamp: string;
}

/** A record that is asked for a body, and where its entry is. */
export interface TranscriptPlace {
  readonly id: string;
  readonly parentId: string | null;
  readonly timestamp: string;
  /** The records of the entries above, nearest first, as far as they are needed. */
  readonly above: () => Iterable<JsonObject>;
}

/** Fed with the records of one transcript in file order. */
export interface Transcript {
  readonly kind: SourceKind;
  /** Undefined before the first record that says of which session it is. */
  readonly header: SessionHeader | undefined;
  readonly name: string | undefined;
  /** Whether all of it is a sub-agent's: its header names the session of the call. */
  readonly isSubagent: boolean;
  /** The last entry of the conversation: not one of a sub-agent, unless there is no other. */
  readonly tailId: string | null;
  /** What repeats an earlier record in the one that was added last; undefined: nothing. */
  readonly repetition: string | undefined;
  /** The entries of a record; none of one that repeats the id of an earlier one, which counts. */
  add(record: JsonObject, line: number): readonly TranscriptRow[];
  /** The entry of a row in pi's form; undefined if the record is not the one of that row. */
  entryOf(record: JsonObject, place: TranscriptPlace): JsonObject | undefined;
}

const uuidAtEnd = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/**
 * The id of the source if valid, else the UUID in the file's name, else the name. For Claude Code a
 * UUID as name comes first, since continued records keep another id.
 */
export function transcriptId(
  kind: SourceKind,
  sourceId: string | undefined,
  fileName: string,
): string {
  const name = fileName.replace(/\.jsonl$/, "");
  const uuid = uuidAtEnd.exec(name)?.[0];
  const named = kind === "claude" && uuid === name ? uuid : undefined;
  const found = [named, sourceId, uuid, name].find(
    (id) => id !== undefined && isValidSessionId(id),
  );
  return found ?? `imported${name.replaceAll(/[^A-Za-z0-9]/g, "")}`;
}
