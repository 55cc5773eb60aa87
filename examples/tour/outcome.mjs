/** Checks what came of it: every claim of the tour, and whether it holds. */
import { verifySession } from "branchlog/tools";

/**
 * @param {import("branchlog").Session} session The session, opened afterwards.
 * @param {Awaited<ReturnType<typeof import("./together.mjs").runTogether>>} outcome
 * @param {number} revisionBefore Entries that were there before.
 * @returns {Promise<{ claim: string, holds: boolean }[]>}
 */
export async function checkOutcome(session, { written, followed }, revisionBefore) {
  const inLog = [];
  for await (const { id } of session.entries({ from: revisionBefore + 1 })) inLog.push(id);
  const acknowledged = written.flatMap(({ ids }) => ids);
  const report = await verifySession(session);
  return [
    {
      claim: "every acknowledged entry is in the log, exactly once",
      holds: isSame(inLog.toSorted(), acknowledged.toSorted()),
    },
    {
      claim: "the entries of each process are in the order in which it appended them",
      holds: written.every(({ ids }) =>
        isSame(
          inLog.filter((id) => ids.includes(id)),
          ids,
        ),
      ),
    },
    {
      claim: "the follower saw all of them, in the order of the log",
      holds: isSame(followed.seen, inLog),
    },
    { claim: "verify finds no damage", holds: report.ok && report.pending === null },
  ];
}

/** @param {string[]} a @param {string[]} b */
function isSame(a, b) {
  return a.length === b.length && a.every((id, i) => id === b[i]);
}
