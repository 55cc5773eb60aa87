/**
 * Recognises the header of a session and says which form its entries have. Pure. It accepts what pi
 * accepts: `type` session and an id that is a string; everything else is handed on as stored.
 */
import type { JsonObject, JsonValue } from "@branchlog/streaming";
import type { SessionHeader } from "../entries/entry-types.ts";

/** The version that is written, and the newest whose meaning is known. */
export const currentVersion: number = 3;

/** The forms of entries that are known: 1 linear, 2 a tree, 3 with the role `custom`. */
export type EntryForm = 1 | 2 | 3;

/** The result of reading a record as a header. */
export type HeaderReading =
  | { readonly kind: "header"; readonly header: SessionHeader; readonly version: number }
  | { readonly kind: "not-header" };

/**
 * Whether the record is a header. `header` is the same object, unknown keys and wrong types
 * included; `version` is 1 if it has none, and may be larger than {@link currentVersion}.
 */
export function readHeader(value: JsonObject): HeaderReading {
  if (value["type"] !== "session" || typeof value["id"] !== "string") return { kind: "not-header" };
  // Decoding boundary: the two fields that tell a header were checked; pi trusts the rest as well.
  const header = value as unknown as SessionHeader;
  return { kind: "header", header, version: versionOf(value["version"]) };
}

/** The form of the entries under a header of this version; newer ones count as the last known. */
export function entryForm(version: number): EntryForm {
  if (version < 2) return 1;
  return version < 3 ? 2 : 3;
}

function versionOf(stored: JsonValue | undefined): number {
  if (stored === undefined || stored === null) return 1;
  const version = typeof stored === "string" ? Number(stored) : stored;
  // A version that is not a number makes pi migrate nothing, that is, read the entries as current.
  return typeof version === "number" && !Number.isNaN(version) ? version : currentVersion;
}

// Turns records of older versions into the current form while reading, as pi does when it opens a
// file. Pure; the input is never changed. What an older version does not say is given by the index.

/** What the index knows about the entry that is being read. */
export interface UpcastContext {
  /** The form of the file's entries. */
  readonly version: EntryForm;
  /** v1: the id that the index gave this entry, see `legacyEntryId`. Else not read. */
  readonly id: string;
  /** v1: the id of the entry before it, null for the first. Else not read. */
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
