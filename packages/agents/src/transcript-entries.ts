/** What transcripts in place have in common: their state, rows and entries of records. Pure. */
import type { SessionHeader } from "@branchlog/core";
import { currentVersion, dateMs, savedHeader, stringAt, timeText } from "@branchlog/core/rows";
import type { SavedFields, TranscriptPlace, TranscriptRow } from "@branchlog/core/rows";
import type { JsonObject } from "@branchlog/streaming";
import type { Body } from "./entry-bodies.ts";

export interface TranscriptState {
  header: SessionHeader | undefined;
  name: string | undefined;
  isSubagent: boolean;
  tailId: string | null;
  /** Of the last record that had one. */
  timeMs: number;
}

export function savedState(state: TranscriptState): object {
  const { header, name, isSubagent, tailId, timeMs } = state;
  return { header, name, isSubagent, tailId, timeMs };
}

export function restoreState(state: TranscriptState, saved: SavedFields): void {
  state.header = savedHeader(saved);
  state.name = saved.optionalText("name");
  state.isSubagent = saved.flag("isSubagent");
  state.tailId = saved.nullableText("tailId");
  state.timeMs = saved.dateMs("timeMs");
}

export interface HeaderFacts {
  readonly id: string;
  /** Undefined: it is not known. */
  readonly timeMs: number | undefined;
  /** Empty if it is not known. */
  readonly cwd: string;
  readonly parentSession: string | undefined;
}

export function sessionHeader({ id, timeMs, cwd, parentSession }: HeaderFacts): SessionHeader {
  const timestamp = timeMs === undefined ? "" : timeText(timeMs);
  const origin = parentSession === undefined ? {} : { parentSession };
  return { type: "session", version: currentVersion, id, timestamp, cwd, ...origin };
}

/** By its `timestamp`; undefined if that is no time. */
export function timeMsOf(record: JsonObject): number | undefined {
  return dateMs(Date.parse(stringAt(record, "timestamp") ?? ""));
}

/** The fields of a row other than its position. */
export type RowFacts = Omit<TranscriptRow, "id" | "parentId" | "timeMs">;

/** Each below the one before; the last one has the id of their record. */
export function rowsOf(
  facts: readonly RowFacts[],
  { id, parentId, timeMs }: Pick<TranscriptRow, "id" | "parentId" | "timeMs">,
): TranscriptRow[] {
  return facts.map((fact, at) => ({
    id: at === facts.length - 1 ? id : `${id}#${at}`,
    parentId: at === 0 ? parentId : `${id}#${at - 1}`,
    timeMs,
    ...fact,
  }));
}

/** Whether a row is of the record with an id. */
export function isRowOf(rowId: string, id: string | undefined): boolean {
  return id !== undefined && (rowId === id || rowId.startsWith(`${id}#`));
}

export function entryAt(
  { id, parentId, timestamp }: TranscriptPlace,
  body: Body | undefined,
): JsonObject | undefined {
  if (body === undefined) return undefined;
  const { type, ...rest } = body;
  return { type, id, parentId, timestamp, ...rest };
}

/** The value from the nearest record above that has one. */
export function foundAbove<Found>(
  { above }: TranscriptPlace,
  find: (record: JsonObject) => Found | undefined,
): Found | undefined {
  for (const record of above()) {
    const found = find(record);
    if (found !== undefined) return found;
  }
  return undefined;
}
