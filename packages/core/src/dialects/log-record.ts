/**
 * What a record of a log is, by its own fields: the header, an entry, the title slot of omp, or
 * none of these. Pure. Its place in the log, and whether its parent is known, is not considered.
 */
import type { DecodedLine, JsonObject } from "@branchlog/streaming";
import { readHeader } from "./header.ts";
import type { EntryForm, HeaderReading } from "./header.ts";

/** The type of title slots, which are not entries and no damage. */
export const titleSlotType = "title";

/** The `customType` of the first entry of an imported session, which says where it is from. */
export const sourceType: string = "branchlog.source";

/** A record by what it is; `bad-header`: a session record without an id. */
export type LogRecord =
  | Extract<HeaderReading, { readonly kind: "header" }>
  | { readonly kind: "bad-header" }
  | { readonly kind: "entry"; readonly type: string; readonly id: string | null }
  | { readonly kind: "title-slot" }
  | { readonly kind: "other" };

/** Reads a record of a log whose entries have this form: of form 1, they have no ids. */
export function readRecord(value: JsonObject, form: EntryForm): LogRecord {
  const { type, id } = value;
  if (typeof type !== "string") return { kind: "other" };
  if (type === "session") {
    const reading = readHeader(value);
    return reading.kind === "header" ? reading : { kind: "bad-header" };
  }
  const ownId = typeof id === "string" ? id : null;
  if (ownId !== null || form === 1) return { kind: "entry", type, id: ownId };
  return { kind: type === titleSlotType ? "title-slot" : "other" };
}

/** The header that a line holds; undefined if it holds none. */
export function headerOf(line: DecodedLine): Extract<LogRecord, { kind: "header" }> | undefined {
  const reading = line.ok ? readHeader(line.value) : undefined;
  return reading?.kind === "header" ? reading : undefined;
}

/** Whether a record has the links of an entry, as no record of another agent has. */
export function isLinked({ id, parentId }: JsonObject): boolean {
  return typeof id === "string" && (parentId === null || typeof parentId === "string");
}
