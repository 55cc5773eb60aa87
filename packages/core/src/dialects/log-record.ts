/** Classifies a record of a log by its own fields, not by its place or parent. Pure. */
import type { DecodedLine, JsonObject } from "@branchlog/streaming";
import { isObject } from "../entries/json-fields.ts";
import { transcriptFormats } from "./agent.ts";
import { readHeader } from "./header.ts";
import type { EntryForm, HeaderReading } from "./header.ts";

export const titleSlotType = "title";

/** The `customType` of the first entry of an imported session: its source. */
export const sourceType: string = "branchlog.source";

/** `bad-header`: a session record without an id. */
export type LogRecord =
  | Extract<HeaderReading, { readonly kind: "header" }>
  | { readonly kind: "bad-header" }
  | { readonly kind: "entry"; readonly type: string; readonly id: string | null }
  | { readonly kind: "title-slot" }
  | { readonly kind: "other" };

/** Entries of form 1 have no ids. */
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

export function headerOf(line: DecodedLine): Extract<LogRecord, { kind: "header" }> | undefined {
  const reading = line.ok ? readHeader(line.value) : undefined;
  return reading?.kind === "header" ? reading : undefined;
}

/** Whether a record has both links of an entry; of foreign records only those of some agents do. */
export function isLinked({ id, parentId }: JsonObject): boolean {
  return typeof id === "string" && (parentId === null || typeof parentId === "string");
}

/**
 * Whether only a session has such a record: header, title slot, linked entry, or a v1 message.
 * Entries of extensions may hold any other field.
 */
export function isOfSession(record: JsonObject): boolean {
  const { type, message } = record;
  if (typeof type !== "string") return false;
  if (type === "session" || type === titleSlotType) return true;
  if (isLinked(record)) {
    return !transcriptFormats().some((format) => format.hasLinks && format.recognises(record));
  }
  return type === "message" && isObject(message);
}
