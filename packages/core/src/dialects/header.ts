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

/** What a record is when looked at as a header. */
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
  // A version that is no number makes pi migrate nothing, that is, read the entries as current.
  return typeof version === "number" && !Number.isNaN(version) ? version : currentVersion;
}
