/** Real processes on one real file: nothing that was acknowledged is lost, torn or interleaved. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { createSession, openSession } from "@branchlog/core";
import { verifySession } from "@branchlog/tools";
import { runs } from "../support/fault-seed.ts";
import { idsOf } from "../support/collected.ts";
import { rawLog } from "../support/raw-log.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";
import { startAppending } from "./appending-processes.ts";

it("processes that append keep each entry in one order, batches whole (Verifies: P1, P3, P11)", async () => {
  const path = join(temporaryDirectory(), "s.jsonl");
  await createSession(path);
  const count = runs(12, 40);
  const names = ["one", "two", "three", "four"];
  const writers = names.map((name) => startAppending(path, name, { count, batch: 3 }));
  expect(await Promise.all(writers.map(({ ended }) => ended))).toEqual([0, 0, 0, 0]);
  const { entries, debris } = rawLog(readFileSync(path));
  expect(debris).toEqual([]);
  const ids = entries.map(({ id }) => id);
  expect(ids).toHaveLength(4 * count * 3);
  expect(new Set(ids).size).toBe(ids.length);
  for (const { batches } of writers) {
    const places = batches().map((batch) => batch.map((id) => ids.indexOf(id)));
    for (const [first = -1, ...others] of places) {
      expect(others).toEqual([first + 1, first + 2]);
    }
    const starts = places.map(([first]) => first ?? -1);
    expect(starts).toEqual(starts.toSorted((a, b) => a - b));
  }
  const session = await openSession(path, { access: "read" });
  expect(await idsOf(session.entries())).toEqual(ids);
  expect(await verifySession(session)).toMatchObject({ ok: true, pending: null });
});
