/** What a caller says about an append besides the entry itself. */
import type { OnDiverged, ParentChoice } from "./append-plan.ts";

/** Where and on what conditions entries are appended. */
export interface AppendOptions {
  /** `leaf` (default): under this session's leaf. `tail`: under the last entry of the log. */
  readonly parent?: "leaf" | "tail" | { readonly id: string | null };
  /** What `leaf` does if others appended since this session last looked. Default `branch`. */
  readonly onDiverged?: OnDiverged;
  /** Append only if this is the last entry of the log (null: only if it has none). */
  readonly expectedTail?: string | null;
  /** The id to give the entry; appending it again returns the first result. */
  readonly id?: string;
  /** Gives up waiting for the lock; nothing is written then. */
  readonly signal?: AbortSignal;
}

/** The parent that a caller's word means. */
export function parentChoice(parent: NonNullable<AppendOptions["parent"]>): ParentChoice {
  if (parent === "leaf" || parent === "tail") return { kind: parent };
  return parent.id === null ? { kind: "root" } : { kind: "entry", id: parent.id };
}
