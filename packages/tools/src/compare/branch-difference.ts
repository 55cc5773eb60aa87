/**
 * The difference of two branches, entry by entry. Which entries differ is decided by the index
 * alone; only their bodies are read, one batch at a time.
 */
import type { Session, SessionEntry } from "@branchlog/core";
import { watchedSession } from "@branchlog/core/engine";
import type { Engine } from "@branchlog/core/engine";

/** An entry of a session; without `at`, its leaf. */
export interface ComparedPlace {
  readonly session: Session;
  /** The id of an entry. Unknown ids have an empty branch. */
  readonly at?: string | undefined;
}

/** `common` is first; then all that were removed, root first, and all that were added. */
export type BranchDifference =
  | {
      readonly kind: "common";
      readonly count: number;
      /** Of the last entry that both have; null if there is no such entry. */
      readonly lastId: string | null;
    }
  | { readonly kind: "removed" | "added"; readonly entry: SessionEntry };

/**
 * Compares the paths from the root to two entries, of one session or of two. An entry is in both if
 * id, type, role and time are the same, in the same order; bodies are not compared. Memory: the two
 * paths, without bodies.
 * @throws BranchlogError `ERR_CLOSED`, `ERR_LOG_GONE`, `ERR_LOG_UNREADABLE`; the signal's reason.
 * @example
 * for await (const step of diffBranches({ session, at: "5b2e9d06" }, { session })) {
 *   if (step.kind !== "common") console.log(step.kind, step.entry.id);
 * }
 */
export async function* diffBranches(
  from: ComparedPlace,
  to: ComparedPlace,
  signal?: AbortSignal,
): AsyncGenerator<BranchDifference, void, undefined> {
  const [before, after] = [branchOf(from), branchOf(to)];
  const common = commonRows(before, after);
  yield { kind: "common", count: common.before.size, lastId: common.lastId };
  yield* entriesOf("removed", before, common.before, signal);
  yield* entriesOf("added", after, common.after, signal);
}

interface Branch {
  readonly engine: Engine;
  readonly rows: Int32Array;
}

interface CommonRows {
  readonly before: ReadonlySet<number>;
  readonly after: ReadonlySet<number>;
  readonly lastId: string | null;
}

function branchOf({ session, at }: ComparedPlace): Branch {
  const { engine } = watchedSession(session);
  return { engine, rows: engine.rowPath(at ?? session.leaf).rows };
}

/** Ids are unique on a path, so that one pass finds the entries in common order. */
function commonRows(before: Branch, after: Branch): CommonRows {
  const places = new Map<string, number>();
  for (const [place, row] of after.rows.entries()) places.set(identityOf(after.engine, row), place);
  const common = { before: new Set<number>(), after: new Set<number>() };
  let last = -1;
  for (const row of before.rows) {
    const place = places.get(identityOf(before.engine, row));
    if (place === undefined || place <= last) continue;
    last = place;
    common.before.add(row);
    common.after.add(after.rows[place] ?? -1);
  }
  const lastRow = after.rows[last];
  return { ...common, lastId: lastRow === undefined ? null : after.engine.index.idOf(lastRow) };
}

/** Entries of rollouts are known by their lines, which other rollouts have as well. */
function identityOf({ index }: Engine, row: number): string {
  const { type, role = "" } = index.kindOf(row);
  return JSON.stringify([index.idOf(row), type, role, index.rows.time(row)]);
}

async function* entriesOf(
  kind: "removed" | "added",
  { engine, rows }: Branch,
  common: ReadonlySet<number>,
  signal: AbortSignal | undefined,
): AsyncGenerator<BranchDifference, void, undefined> {
  const own = rows.filter((row) => !common.has(row));
  for await (const { entry } of engine.bodies.entries(own, signal)) yield { kind, entry };
}
