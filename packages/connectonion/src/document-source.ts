/**
 * What a log that was made of a document says of it: in its first entry, and with each turn. Pure.
 */
import type { JsonObject, JsonValue } from "@branchlog/streaming";
import type { SessionEntry } from "@branchlog/core";
import { sourceType } from "@branchlog/core/internal";
import type { DocumentShape } from "./document-types.ts";
import { isObject } from "./json-values.ts";
import { turnNoteType } from "./session-turns.ts";

/** What the first entry of a log says of the document that it is from. */
export interface DocumentSource {
  readonly kind: "connectonion";
  readonly shape: DocumentShape;
  /** The keys of the document in their order. */
  readonly keys: readonly string[];
  /** Their values, but for turns and messages. */
  readonly fields: JsonObject;
  /** Messages that belong to no turn, under their keys. */
  readonly messages: JsonObject;
}

/** Reads that entry; undefined for every other, also for one of another source. */
export function documentSourceOf(entry: SessionEntry): DocumentSource | undefined {
  const data = entry.type === "custom" && entry.customType === sourceType ? entry.data : undefined;
  if (!isObject(data) || data["kind"] !== "connectonion") return undefined;
  const { shape, keys, fields, messages } = data;
  return {
    kind: "connectonion",
    shape: shape === "nested" ? "nested" : "keyed",
    keys: Array.isArray(keys) ? keys.filter((key) => typeof key === "string") : [],
    fields: isObject(fields) ? fields : {},
    messages: isObject(messages) ? messages : {},
  };
}

/** What the import of a turn left with its entries. */
export interface FoundTurn {
  readonly targetId: string;
  /** Its messages as found, where entries cannot say them: null if there were none. */
  readonly messages?: JsonValue;
}

/** Reads the note of an imported turn; undefined for every other entry. */
export function foundTurnOf(entry: SessionEntry): FoundTurn | undefined {
  const data =
    entry.type === "custom" && entry.customType === turnNoteType ? entry.data : undefined;
  if (!isObject(data) || data["isWhole"] !== true) return undefined;
  const { targetId, messages } = data;
  if (typeof targetId !== "string") return undefined;
  return messages === undefined ? { targetId } : { targetId, messages };
}
