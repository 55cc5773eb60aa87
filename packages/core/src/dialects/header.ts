/**
 * Recognises headers as pi does: `type` session and a string id. Everything else is kept as stored.
 * Pure.
 */
import type { JsonObject, JsonValue } from "@branchlog/streaming";
import type { SessionHeader } from "../entries/entry-types.ts";

/** The version written, and the newest known. */
export const currentVersion: number = 3;

/** 1 linear, 2 a tree, 3 with the role `custom`. */
export type EntryForm = 1 | 2 | 3;

export type HeaderReading =
  | { readonly kind: "header"; readonly header: SessionHeader; readonly version: number }
  | { readonly kind: "not-header" };

/** `version` is 1 if absent, and may exceed {@link currentVersion}. */
export function readHeader(value: JsonObject): HeaderReading {
  if (value["type"] !== "session" || typeof value["id"] !== "string") return { kind: "not-header" };
  // Decoding boundary: the two fields that tell a header were checked; pi trusts the rest as well.
  const header = value as unknown as SessionHeader;
  return { kind: "header", header, version: versionOf(value["version"]) };
}

/** Newer versions count as the last known. */
export function entryForm(version: number): EntryForm {
  if (version < 2) return 1;
  return version < 3 ? 2 : 3;
}

function versionOf(stored: JsonValue | undefined): number {
  if (stored === undefined || stored === null) return 1;
  const version = typeof stored === "string" ? Number(stored) : stored;
  // Like pi, reads entries under a version that is not a number as current.
  return typeof version === "number" && !Number.isNaN(version) ? version : currentVersion;
}

// Upcasts records of older versions as pi does on opening. Pure; the input is never changed.

export interface UpcastContext {
  readonly version: EntryForm;
  /** v1 only: the id given by the index, see `legacyEntryId`. */
  readonly id: string;
  /** v1 only: the id of the entry before it, null for the first. */
  readonly parentId: string | null;
  /**
   * The id of the i-th record, the header being 0 and bad lines not counted; null for a record
   * after this entry; undefined for a header or a missing record.
   */
  idAtFileIndex(i: number): string | null | undefined;
}

/**
 * The entry in the current form; the same reference if nothing changes. Keys keep their places;
 * those that v1 lacks come last, as in pi.
 * - v1: id and parentId come from the context, even if present. `firstKeptEntryIndex` becomes the
 *   id at that index; for a later entry, which has no id in pi yet, it is dropped together with
 *   `firstKeptEntryId`.
 * - v1, v2: the role `hookMessage` becomes `custom`.
 */
export function upcastEntry(value: JsonObject, context: UpcastContext): JsonObject {
  if (context.version === 3) return value;
  return renameHookMessage(context.version === 1 ? linkEntry(value, context) : value);
}

export const hookRole: string = "hookMessage";

/** For v1 compactions. Null: keeps nothing. Undefined: the index decides nothing. */
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
