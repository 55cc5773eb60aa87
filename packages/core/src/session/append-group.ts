/**
 * Plans appends that are written together, in the order in which they were asked for. Each is
 * planned as if those before it were in the log already, so that a group means what its appends
 * would mean one after the other; one that cannot be planned does not keep the others back.
 */
import type { EncodedDraft } from "../entries/encode-entry.ts";
import type { SessionEntry } from "../entries/entry-types.ts";
import { planAppend } from "./append-plan.ts";
import type { AppendItem, AppendPlan, AppendSituation, OnDiverged } from "./append-plan.ts";
import type { Engine } from "./engine.ts";
import type { LeafCursor } from "./leaf-cursor.ts";
import { PlannedLog } from "./planned-log.ts";
import { sameContent, sameDraft } from "./same-content.ts";

/** What to append, and on what conditions. */
export interface AppendRequest {
  readonly items: readonly AppendItem[];
  readonly onDiverged: OnDiverged;
  /** Undefined: whatever the tail is. */
  readonly expectedTail: string | null | undefined;
}

/** One append of a group: what is asked, and who asks. */
export interface AppendCall {
  readonly request: AppendRequest;
  readonly leaf: LeafCursor;
}

/** A call with its plan, or why there is none. */
export type PlannedCall =
  | { readonly call: AppendCall; readonly plan: AppendPlan }
  | { readonly call: AppendCall; readonly plan: undefined; readonly error: unknown };

/** Plans the calls. Never throws: what is wrong with a call is part of its answer. */
export function planGroup(engine: Engine, calls: readonly AppendCall[]): readonly PlannedCall[] {
  const log = new PlannedLog(engine.path, engine.index, engine.tailId);
  const leaves = new Map<LeafCursor, string | null>();
  return calls.map((call) => {
    const mark = log.mark();
    try {
      const plan = planAppend(log, call.request.items, situationOf(engine, log, call, leaves));
      leaves.set(call.leaf, plan.leafId);
      return { call, plan };
    } catch (error) {
      log.rollBack(mark);
      return { call, plan: undefined, error };
    }
  });
}

/** @param leaves Where the calls planned so far leave the leaves of their sessions. */
function situationOf(
  engine: Engine,
  log: PlannedLog,
  { request, leaf }: AppendCall,
  leaves: ReadonlyMap<LeafCursor, string | null>,
): AppendSituation {
  const moved = leaves.get(leaf);
  // Once an own append is in the log, nothing of others stands behind it.
  const isFirst = leaves.size === 0;
  return {
    leafId: moved === undefined ? startingLeafId(engine, leaf) : moved,
    othersAppended: isFirst && engine.othersAppended,
    hasDiverged: isFirst && engine.hasDiverged,
    onDiverged: request.onDiverged,
    expectedTail: request.expectedTail,
    mintId: () => engine.mintEntryId(),
    sameContent: (id, encoded) => isSame(engine, log, id, encoded),
  };
}

function startingLeafId({ index, tailId }: Engine, { following, id }: LeafCursor): string | null {
  const isLost = following && id !== null && index.rowOfId(id) < 0;
  return isLost ? tailId : id;
}

function isSame(engine: Engine, log: PlannedLog, id: string, encoded: EncodedDraft): boolean {
  const planned = log.planned(id);
  if (planned !== undefined) return sameDraft(planned.encoded, encoded, id);
  const entry: SessionEntry | undefined = engine.entrySync(id);
  return entry !== undefined && sameContent(entry, encoded);
}
