/**
 * Stand-ins for entries that are lost but that others name as their parent: where the remains of a
 * lost entry name its parent, that is no guess; where nothing does, the entry before its
 * first child is one, taken only if it was asked for. Pure; links made here never form a cycle.
 */
import { orphanRows } from "@branchlog/core/internal";
import type { IndexTable } from "@branchlog/core/internal";
import type { LostEntry } from "./record-facts.ts";
import type { StandInStep } from "./repair-plan.ts";

/** What stand-ins are made from. */
export interface StandInFacts {
  readonly index: IndexTable;
  readonly lost: ReadonlyMap<string, LostEntry>;
  /** Takes the order of the file where nothing says what the parent was. */
  readonly bridge: boolean;
  /** For entries whose children have no readable time either. */
  readonly timestamp: string;
}

/** The stand-ins, in file order, each before its first child. Linear in the rows. */
export function standIns(facts: StandInFacts): StandInStep[] {
  const { index } = facts;
  const orphans = orphanRows(index);
  if (orphans.length === 0) return [];
  const before = groundedRowsBefore(index);
  const made = new Map<string, StandInStep>();
  /** Lost entries of which it is known that nothing says what is above them. */
  const adrift = new Set<string>();
  for (const row of orphans) {
    const missingParentId = index.parentIdOf(row) ?? "";
    if (made.has(missingParentId) || adrift.has(missingParentId)) continue;
    const placeOf = (parent: string): Place => {
      if (made.has(parent)) return "above";
      const parentRow = index.rowOfId(parent);
      if (parentRow >= 0) return isGrounded(before, parentRow, row) ? "above" : "elsewhere";
      return adrift.has(parent) ? "elsewhere" : "lost";
    };
    const chain = lostChain(missingParentId, facts.lost, placeOf);
    const last = chain.at(-1);
    if (last?.source === "order") {
      if (!facts.bridge) {
        for (const link of chain) adrift.add(link.id);
        continue;
      }
      const above = before[row] ?? -1;
      chain[chain.length - 1] = { ...last, parentId: above < 0 ? null : index.idOf(above) };
    }
    const offset = index.rows.offset(row);
    const time = timeOf(index, row) ?? facts.timestamp;
    for (const link of chain.toReversed()) {
      const timestamp = link.timestamp ?? time;
      made.set(link.id, { kind: "stand-in", offset, ...link, timestamp });
    }
  }
  return [...made.values()].toSorted((a, b) => a.offset - b.offset);
}

/** A lost entry on the way to one that is there; `order`: nothing says what is above it. */
interface LostLink {
  readonly id: string;
  readonly parentId: string | null;
  readonly timestamp: string | null;
  readonly source: StandInStep["source"];
}

/** Where an entry is; `elsewhere`: not surely above, and of no help. */
type Place = "above" | "elsewhere" | "lost";

/** The lost entries from `id` upwards, up to one whose parent is above or unknown. */
function lostChain(
  id: string,
  lost: ReadonlyMap<string, LostEntry>,
  placeOf: (id: string) => Place,
): LostLink[] {
  const chain: LostLink[] = [];
  const met = new Set<string>();
  for (let at = id; ;) {
    const entry = lost.get(at);
    met.add(at);
    if (entry === undefined) {
      chain.push({ id: at, parentId: null, timestamp: null, source: "order" });
      return chain;
    }
    const { parentId } = entry;
    const place = parentId === null ? "above" : placeOf(parentId);
    const isCircle = place === "elsewhere" || (parentId !== null && met.has(parentId));
    chain.push({ ...entry, source: isCircle ? "order" : "damaged" });
    if (isCircle || parentId === null || place === "above") return chain;
    at = parentId;
  }
}

/**
 * For each row the nearest one before it that is grounded, or -1. A row is grounded if everything
 * above it is before it, so that nothing put between it and a later row can close a circle.
 */
function groundedRowsBefore(index: IndexTable): Int32Array {
  const { rows } = index;
  const before = new Int32Array(index.count + 1);
  let last = -1;
  for (let row = 0; row < index.count; row += 1) {
    before[row] = last;
    const handle = rows.parentHandle(row);
    const parent = handle < 0 ? -1 : index.rowOfHandle(handle);
    if (index.isNode(row) && (parent < 0 || isGrounded(before, parent, row))) last = row;
  }
  before[index.count] = last;
  return before;
}

/** Whether `row` is grounded and before `limit`; the rows up to `limit` have to be known. */
function isGrounded(before: Int32Array, row: number, limit: number): boolean {
  return row < limit && before[row + 1] === row;
}

function timeOf(index: IndexTable, row: number): string | null {
  const time = new Date(index.rows.time(row));
  return Number.isNaN(time.getTime()) ? null : time.toISOString();
}
