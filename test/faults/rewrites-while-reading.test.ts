/** A log that is rewritten in place, under its own name and inode, in the midst of being read. */
import { describe, expect, it } from "vitest";
import { openSession } from "@branchlog/core";
import { MemoryFileSystem, createMemoryPorts } from "@branchlog/core/testing";
import { idsOf } from "../support/collected.ts";

const path = "/s.jsonl";

const text = (session: string, entries: number): Buffer => {
  const time = "2026-01-01T00:00:00.000Z";
  const header = `{"type":"session","version":3,"id":"${session}","timestamp":"${time}","cwd":"/"}`;
  const lines = Array.from(
    { length: entries },
    (_, n) =>
      `{"type":"message","id":"${session}${n}","parentId":null,"timestamp":"${time}",` +
      `"message":{"role":"user","content":"${session.repeat(100)}","timestamp":1}}`,
  );
  return Buffer.from([header, ...lines, ""].join("\n"));
};

/** Opens a log that is rewritten before the `at`-th read. Returns how many reads there were. */
async function openRewritten(at: number, entriesAfter: number): Promise<number> {
  let count = 0;
  const fs = new MemoryFileSystem();
  fs.writeFileSync(path, text("a", 3));
  fs.onCall = ({ name }) => {
    if (name !== "read" && name !== "readSync") return undefined;
    count += 1;
    if (count === at) fs.writeFileSync(path, text("b", entriesAfter));
    return undefined;
  };
  const ports = createMemoryPorts({ fs });
  const session = await openSession(path, { ports, access: "read" });
  const reads = count;
  if (reads < at) return reads;
  await session.refresh();
  expect(await idsOf(session.entries())).toEqual(
    Array.from({ length: entriesAfter }, (_, n) => `b${n}`),
  );
  return reads;
}

describe("a log that is rewritten while it is opened", () => {
  it.each([1, 3, 5])("is read in its final state, at any read: %i entries", async (after) => {
    const reads = await openRewritten(Infinity, after);
    for (let at = 1; at <= reads; at += 1) await openRewritten(at, after);
    expect(reads).toBeGreaterThan(0);
  });
});
