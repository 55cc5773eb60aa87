/**
 * Whether a draft that is appended again says the same as what was appended under its id: every
 * field but parent, timestamp and divergence, which the first append decided. Pure. O(size of the
 * entry).
 */
import { isDeepStrictEqual } from "node:util";
import { decodeLine } from "@branchlog/streaming";
import { spliceDraft } from "../entries/encode-entry.ts";
import type { EncodedDraft } from "../entries/encode-entry.ts";
import { divergenceKey } from "../entries/divergence.ts";
import type { SessionEntry } from "../entries/entry-types.ts";

/** Compares with an entry of the log, by value, after a round trip through JSON. */
export function sameContent(entry: SessionEntry, encoded: EncodedDraft): boolean {
  const offered = contentOf(encoded, entry.id);
  const { timestamp: _, parentId: __, [divergenceKey]: ___, ...stored } = withMark(entry);
  return offered !== undefined && isDeepStrictEqual(stored, offered);
}

function withMark(entry: SessionEntry): SessionEntry & { readonly [divergenceKey]?: unknown } {
  return { ...entry };
}

/** Compares two drafts that are to be written under the same id. */
export function sameDraft(one: EncodedDraft, other: EncodedDraft, id: string): boolean {
  const first = contentOf(one, id);
  return first !== undefined && isDeepStrictEqual(first, contentOf(other, id));
}

function contentOf(encoded: EncodedDraft, id: string): Record<string, unknown> | undefined {
  const decoded = decodeLine(spliceDraft(encoded, id, null));
  if (!decoded.ok) return undefined;
  const { timestamp: _, parentId: __, ...content } = decoded.value;
  return content;
}
