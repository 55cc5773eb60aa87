/**
 * Whether a draft that is appended again says the same as the entry that the log holds: every field
 * but parent and timestamp, which the first append decided. Pure.
 */
import { isDeepStrictEqual } from "node:util";
import { decodeLine } from "@branchlog/streaming";
import { spliceDraft } from "../entries/encode-entry.ts";
import type { EncodedDraft } from "../entries/encode-entry.ts";
import type { SessionEntry } from "../entries/entry-types.ts";

/** Compares by value, after a round trip through JSON. O(size of the entry). */
export function sameContent(entry: SessionEntry, encoded: EncodedDraft): boolean {
  const decoded = decodeLine(spliceDraft(encoded, entry.id, entry.parentId));
  if (!decoded.ok) return false;
  const { timestamp: _first, parentId: _firstParent, ...stored } = { ...entry };
  const { timestamp: _second, parentId: _secondParent, ...offered } = decoded.value;
  return isDeepStrictEqual(stored, offered);
}
