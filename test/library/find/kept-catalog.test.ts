/** Sessions that are found again: only what changed is read. */
import { appendFileSync, unlinkSync, utimesSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { findSessions } from "@branchlog/library";
import { KeptCatalog, findAmong } from "@branchlog/library/catalogs";
import { temporaryDirectory } from "../../support/temporary-directory.ts";
import { header, jsonl, user, writeLines } from "../catalog/session-lines.ts";

const all = (): boolean => true;

it("finds the same as a first search, and reads only changes", async () => {
  const directory = temporaryDirectory();
  for (const id of ["a", "b", "c"]) {
    const path = writeLines(directory, `${id}.jsonl`, [header({ id }), user(`I am ${id}`)]);
    // What changed just now may change within the same time.
    utimesSync(path, 0, 0);
  }
  const kept = new KeptCatalog("off");
  const requireSame = async (limit?: number): Promise<void> => {
    const options = { catalog: "off", limit } as const;
    const again = await findAmong([directory], options, all, kept);
    expect(again).toEqual(await findSessions([directory], options));
  };
  await requireSame();
  const [first, second] = [
    await findAmong([directory], {}, all, kept),
    await findAmong([directory], {}, all, kept),
  ];
  // A session that is read again is another object.
  for (const [place, one] of first.sessions.entries()) expect(second.sessions[place]).toBe(one);
  appendFileSync(join(directory, "a.jsonl"), jsonl([user("more")]));
  unlinkSync(join(directory, "b.jsonl"));
  writeLines(directory, "d.jsonl", [header({ id: "d" }), user("I am d")]);
  await requireSame();
  await requireSame(1);
  const since = { sinceMs: Date.now() + 60_000, catalog: "off" } as const;
  expect((await findAmong([directory], since, all, kept)).sessions).toEqual([]);
  await requireSame();
});
