/** Placeholders for lost entries that are used as parents. Their links never form a cycle. */
import { orphanRows } from "@branchlog/core/rows";
import type { IndexTable } from "@branchlog/core/rows";
import type { LostEntry } from "./record-facts.ts";
import type { StandInStep } from "./repair-plan.ts";

export interface StandInFacts {
  readonly index: IndexTable;
  readonly lost: ReadonlyMap<string, LostEntry>;
  /** Links to the previous entry where nothing names the parent. */
  readonly bridge: boolean;
  /** For entries whose children have no readable time. */
  readonly timestamp: string;
}

/** In file order, each before its first child. Linear in the rows. */
export function standIns(facts: StandInFacts): StandInStep[] {
  const { index } = facts;
  const orphans = orphanRows(index);
  if (orphans.length === 0) return [];
  const before = groundedRowsBefore(index);
  const made = new Map<string, StandInStep>();
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

interface LostLink {
  readonly id: string;
  readonly parentId: string | null;
  readonly timestamp: string | null;
  readonly source: StandInStep["source"];
}

/** `elsewhere`: not certainly above. */
type Place = "above" | "elsewhere" | "lost";

/** The lost entries from `id` upwards, to one whose parent is above or unknown. */
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

/** For each row, the nearest row before it whose ancestors all precede it, or -1. */
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

/** Whether `row` is grounded and before `limit`; the rows up to `limit` must be known. */
function isGrounded(before: Int32Array, row: number, limit: number): boolean {
  return row < limit && before[row + 1] === row;
}

function timeOf(index: IndexTable, row: number): string | null {
  const time = new Date(index.rows.time(row));
  return Number.isNaN(time.getTime()) ? null : time.toISOString();
}
