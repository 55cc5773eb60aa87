/**
 * Compares what processes were told with what is in the log afterwards: every acknowledged entry
 * once and whole, every line a record or fenced debris, every parent there.
 */
import { readFileSync } from "node:fs";
import { openSession } from "@branchlog/core";
import { verifySession } from "@branchlog/tools";
import { orphanIds, rawLog, repeatedIds } from "./raw-log.ts";
import type { RawEntry, RawLog } from "./raw-log.ts";
import type { Acknowledged, Rejected } from "./victims.ts";

/** What is wrong with a log; nothing, if every promise was kept. */
export async function brokenPromises(
  path: string,
  acknowledged: readonly Acknowledged[],
  debrisMax: number,
): Promise<string[]> {
  const log = rawLog(readFileSync(path));
  return [
    ...unkept(log, acknowledged),
    ...repeatedIds(log).map((id) => `${id} stands there twice`),
    ...orphanIds(log).map((id) => `${id} has no parent`),
    ...mergedDebris(log, acknowledged),
    ...(log.debris.length > debrisMax ? [`${log.debris.length} lines of debris`] : []),
    ...(await misread(path, log)),
  ];
}

/** Entries that are not in the file as they were acknowledged. */
function unkept({ entries, offsets }: RawLog, acknowledged: readonly Acknowledged[]): string[] {
  const byId = new Map(entries.map((entry) => [entry.id, entry]));
  return acknowledged.flatMap(({ id, name, data, offset }) => {
    const found = byId.get(id);
    if (found === undefined) return [`${id} of ${name} is lost`];
    if (offset !== undefined && offset !== offsets.get(id)) {
      return [`${id} of ${name} is at byte ${offsets.get(id)}, not ${offset}`];
    }
    const isWhole = found["customType"] === name && sameJson(found["data"], data);
    return isWhole ? [] : [`${id} of ${name} is ${JSON.stringify(found).slice(0, 200)}`];
  });
}

/** Entries of rejected appends that are there though they were not named, or the reverse. */
export function misjudged(path: string, rejected: readonly Rejected[]): string[] {
  const { entries } = rawLog(readFileSync(path));
  return rejected.flatMap(({ name, i, written }) => {
    const there = entries.filter(({ customType, data }) => customType === name && isNth(data, i));
    const ids = there.map(({ id }) => id);
    return ids.join() === written.join()
      ? []
      : [`${name} ${i}: ${ids.join()}, not ${written.join()}`];
  });
}

function isNth(data: unknown, i: number): boolean {
  return typeof data === "object" && data !== null && "i" in data && data.i === i;
}

function sameJson(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

/** Debris may be a fragment of one record, never with another one in it. */
function mergedDebris({ debris }: RawLog, acknowledged: readonly Acknowledged[]): string[] {
  return debris.flatMap((line) => {
    const holds = acknowledged.some(({ id }) => line.includes(`"id":"${id}"`));
    const isMerged = line.lastIndexOf('{"type":"custom"') > 0;
    return holds || isMerged ? [`debris holds a record: ${line.slice(0, 200)}`] : [];
  });
}

/** A session must read exactly what is stored, and continue from it. */
async function misread(path: string, { entries }: RawLog): Promise<string[]> {
  const session = await openSession(path);
  const known = new Map<string, RawEntry>(entries.map((entry) => [entry.id, entry]));
  const wrong: string[] = [];
  for await (const entry of session.entries()) {
    if (!sameJson(known.get(entry.id), entry)) wrong.push(`${entry.id} is read as something else`);
    known.delete(entry.id);
  }
  for (const id of known.keys()) wrong.push(`${id} is not read`);
  const { duplicateIdCount, orphans, cycles } = await verifySession(session);
  if (duplicateIdCount + orphans.length + cycles.length > 0) wrong.push("the tree is damaged");
  const { id } = await session.append({ type: "custom", customType: "after" });
  if ((await openSession(path)).leaf !== id) wrong.push("the next append is not the leaf");
  return wrong;
}
