/** A pure fold over the entries of a log, and the view of one path through its tree. */
import { modelRole } from "../dialects/model-reference.ts";
import type { SessionEntry } from "../entries/entry-types.ts";

/** One accepted entry of a log and its place. */
export interface ProjectionRecord {
  /** 1-based ordinal of the entry among the accepted entries of its generation. */
  readonly revision: number;
  /** As stored, in the form of version 3. Unknown types may occur at run time. */
  readonly entry: SessionEntry;
}

/**
 * A pure and total fold: the same records give the same state, and no entry makes it throw. Folding
 * in two parts, the second from the state of the first, equals folding in one.
 */
export interface Projection<S> {
  readonly name: string;
  /** Raised when the meaning of the state changes; a saved state of another version is rebuilt. */
  readonly version: number;
  /** The entry types that matter; others may be left out. Null: every type. */
  readonly types: readonly string[] | null;
  /** Of entries of extensions, only these; others may be left out. Absent: all. */
  readonly customTypes?: readonly string[];
  /** A fresh state, never shared with another fold. */
  initial(): S;
  /**
   * The state after one more record, the same reference if nothing changed. With `snapshot`, the
   * given state is consumed: use only the result.
   */
  apply(state: S, record: ProjectionRecord): S;
  /**
   * A copy that later `apply` calls do not change, in time linear in the state. Absent: every state
   * is immutable.
   */
  snapshot?(state: S): S;
}

/** One path through the tree, the root first, the leaf last. Indexes outside throw. */
export interface PathView {
  readonly length: number;
  /** The parent id of the first entry if no entry of the log has that id. */
  readonly missingParentId?: string | undefined;
  type(i: number): string;
  /** Of a `message` entry if it has one; of a `model_change` of omp. */
  role(i: number): string | undefined;
  /** Of a `custom` or `custom_message` entry. */
  customType(i: number): string | undefined;
  id(i: number): string;
  /** May read and parse; the other members never do. */
  entry(i: number): SessionEntry;
}

/** It keeps the array, not a copy. */
export function arrayPathView(
  entries: readonly SessionEntry[],
  missingParentId?: string,
): PathView {
  const at = (i: number): SessionEntry => {
    const entry = entries[i];
    if (entry === undefined) throw new RangeError(`no entry at ${i} of ${entries.length}`);
    return entry;
  };
  return {
    length: entries.length,
    missingParentId,
    type: (i) => at(i).type,
    role: (i) => roleOf(at(i)),
    customType: (i) => customTypeOf(at(i)),
    id: (i) => at(i).id,
    entry: at,
  };
}

function roleOf(entry: SessionEntry): string | undefined {
  if (entry.type === "model_change") return modelRole(entry);
  if (entry.type !== "message") return undefined;
  // Foreign files hold messages that are null, or without a role.
  const role: unknown = (entry.message as { role?: unknown } | null | undefined)?.role;
  return typeof role === "string" ? role : undefined;
}

function customTypeOf(entry: SessionEntry): string | undefined {
  if (entry.type !== "custom" && entry.type !== "custom_message") return undefined;
  const customType: unknown = entry.customType;
  return typeof customType === "string" ? customType : undefined;
}
