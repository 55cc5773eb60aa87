/**
 * Turns records of older versions into the current form while reading, as pi does when it opens a
 * file. Pure; the input is never changed. What an older version does not say is given by the index.
 */
import type { JsonObject } from "@branchlog/streaming";
import { currentVersion, type EntryForm } from "./header.ts";

/** What the index knows about the entry that is being read. */
export interface UpcastContext {
  /** The form of the file's entries. */
  readonly version: EntryForm;
  /** v1: the id that the index gave this entry, see `legacyEntryId`. Else not looked at. */
  readonly id: string;
  /** v1: the id of the entry before it, null for the first. Else not looked at. */
  readonly parentId: string | null;
  /**
   * The id of the i-th record of the file, the header being 0 and bad lines not counted; null for a
   * record that comes after this entry; undefined for a header, and for one that does not exist.
   */
  idAtFileIndex(i: number): string | null | undefined;
}

/**
 * The entry in the current form. Keys keep their places; those that v1 lacks come last, as pi
 * writes them. The same reference if there is nothing to change, always so in version 3.
 *
 * - v1: id and parentId are those of the context, also where the record has its own. A compaction
 *   names the entry at its `firstKeptEntryIndex`, if there is one, and loses the index. Where the
 *   index names a later entry, which pi has given no id yet, it names none, not even its own.
 * - v1, v2: the role `hookMessage` becomes `custom`.
 */
export function upcastEntry(value: JsonObject, context: UpcastContext): JsonObject {
  if (context.version === 3) return value;
  return renameHookMessage(context.version === 1 ? linkEntry(value, context) : value);
}

/** The header in the current form: the version replaced in its place, or added as the last key. */
export function upcastHeader(value: JsonObject, version: EntryForm): JsonObject {
  return version === 3 ? value : { ...value, version: currentVersion };
}

/** The role of `custom` messages before v3. */
export const hookRole: string = "hookMessage";

/**
 * The id that a v1 compaction keeps from by its index. Null: it keeps from none, whatever it names
 * itself. Undefined: the index says nothing.
 */
export function keptEntryId(index: number, context: UpcastContext): string | null | undefined {
  return Number.isSafeInteger(index) && index >= 0 ? context.idAtFileIndex(index) : undefined;
}

function linkEntry(value: JsonObject, context: UpcastContext): JsonObject {
  const index = value["firstKeptEntryIndex"];
  const linked: JsonObject = { ...value, id: context.id, parentId: context.parentId };
  if (value["type"] !== "compaction" || typeof index !== "number") return linked;
  const { firstKeptEntryIndex: _, ...rest } = linked;
  const target = keptEntryId(index, context);
  if (typeof target === "string") return { ...rest, firstKeptEntryId: target };
  if (target === undefined) return rest;
  const { firstKeptEntryId: _own, ...boundless } = rest;
  return boundless;
}

function renameHookMessage(value: JsonObject): JsonObject {
  if (value["type"] !== "message") return value;
  const message = value["message"];
  if (typeof message !== "object" || message === null || Array.isArray(message)) return value;
  if (message["role"] !== hookRole) return value;
  return { ...value, message: { ...message, role: "custom" } };
}
