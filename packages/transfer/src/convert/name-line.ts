/**
 * The entry that names a copy for pi whose source says its name in a title slot, or in the title of
 * its header: pi has names in entries only. Pure.
 */
import type { SessionHeader } from "@branchlog/core";
import { encodeDraft, spliceDraft } from "@branchlog/core/internal";

/** A name, and when the session got it. */
interface GivenTitle {
  readonly name: string;
  readonly updatedAt: string;
}

/** The line, with its newline. */
export function nameLine(
  { name, updatedAt }: GivenTitle,
  { id, parentId }: { readonly id: string; readonly parentId: string | null },
): Buffer {
  return spliceDraft(encodeDraft({ type: "session_info", name }, updatedAt), id, parentId);
}

/** When the name was set: the slot tells, else the header has had it from the beginning. */
export function nameTime(
  slot: { readonly updatedAt: string } | undefined,
  header: SessionHeader | undefined,
): string {
  // Decoding boundary: of a header only type and id were checked.
  const time: unknown = slot?.updatedAt ?? header?.timestamp;
  return typeof time === "string" ? time : new Date(0).toISOString();
}
