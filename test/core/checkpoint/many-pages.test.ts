/** Checkpoints of logs whose columns have several pages: read in part, saved again, replaced. */
import { readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { describe, expect, it } from "vitest";
import { openSession } from "@branchlog/core";
import type { Session } from "@branchlog/core";
import { verifySession } from "@branchlog/tools";
import { descriptorPoolOf, nodeFileSystem } from "@branchlog/core/files";
import { runs } from "../../support/fault-seed.ts";
import { sampleOf } from "../../support/sampled.ts";
import { temporaryDirectory } from "../../support/temporary-directory.ts";
import { footerOf } from "./forged-checkpoint.ts";
import { always, factsOf, leaveCheckpoint, openedFacts } from "./session-facts.ts";

/** Each column of theirs has two pages at least. */
const entryCount = runs(17_500, 34_000);

interface Shape {
  readonly name: string;
  readonly idOf: (n: number) => string;
  readonly parentOf: (n: number) => number | null;
}

const hex = (n: number): string => n.toString(16).padStart(8, "0");
const shapes: readonly Shape[] = [
  { name: "a chain", idOf: hex, parentOf: (n) => (n === 0 ? null : n - 1) },
  {
    name: "branches of ids that are texts, one of them longer than a page",
    idOf: (n) => (n === 7 ? "i".repeat(70_000) : `entry number ${n} of a log`),
    parentOf: (n) => (n === 0 ? null : n >> 1),
  },
  {
    name: "repeated ids, missing parents, and a cycle over all of it",
    idOf: (n) => hex(n % 3_000 === 2_999 ? n - 2_500 : n),
    parentOf: (n) => (n === 5 ? entryCount - 1 : n % 1_000 === 500 ? 900_000 + n : n - 1),
  },
];

function logOf({ idOf, parentOf }: Shape): string {
  const lines = ['{"type":"session","version":3,"id":"s","timestamp":"","cwd":"/"}'];
  for (let n = 0; n < entryCount; n += 1) {
    const parent = parentOf(n);
    const [id, parentId] = [idOf(n), parent === null || parent < 0 ? null : idOf(parent)];
    const timestamp = "2026-01-01T00:00:00.000Z";
    lines.push(JSON.stringify({ type: "custom", id, parentId, timestamp, customType: "x" }));
  }
  return lines.join("\n").concat("\n");
}

/** A log with its checkpoint. */
async function savedLog(shape: Shape): Promise<string> {
  const path = join(temporaryDirectory(), "s.jsonl");
  writeFileSync(path, logOf(shape));
  await leaveCheckpoint(path);
  return path;
}

/** Appends below an entry in the middle, which touches some pages, and saves. */
async function appendInTheMiddle(session: Session, shape: Shape): Promise<void> {
  const id = shape.idOf(Math.floor(entryCount * 0.6));
  await session.append({ type: "custom", customType: "more" }, { id: "appended", parent: { id } });
}

describe.each(shapes)("a checkpoint of $name", (shape) => {
  it("equals the log, read completely, or saved again after a partial read (Verifies: P21)", async () => {
    const path = await savedLog(shape);
    const before = await openedFacts(path, { checkpoint: "off" });
    expect(isDeepStrictEqual(await openedFacts(path, {}), before)).toBe(true);
    const session = await openSession(path, always);
    await appendInTheMiddle(session, shape);
    await session.close();
    const facts = await openedFacts(path, { checkpoint: "off" });
    expect(isDeepStrictEqual(await openedFacts(path, {}), facts)).toBe(true);
    const { checkpointDifferences } = await verifySession(await openSession(path, {}));
    expect(checkpointDifferences).toEqual([]);
  });

  it("stays the opened one after others replaced it and its descriptor was evicted (Verifies: P21)", async () => {
    const path = await savedLog(shape);
    const [kept, other] = await Promise.all([openSession(path, {}), openSession(path, always)]);
    await appendInTheMiddle(other, shape);
    await other.close();
    const facts = await openedFacts(path, { checkpoint: "off" });
    // The file that it began to read has no name any more, and is closed.
    descriptorPoolOf(nodeFileSystem).closeIdle();
    await kept.refresh();
    const wanted = { ...(facts as object), leaf: kept.leaf };
    expect(isDeepStrictEqual(await factsOf(kept), wanted)).toBe(true);
    await kept.close();
  });

  it("is not read further at a damaged page: the log is, once (Verifies: P1, P21)", async () => {
    const path = await savedLog(shape);
    const facts = await openedFacts(path, { checkpoint: "off" });
    const whole = readFileSync(`${path}.ckpt`);
    const { pagesEnd } = footerOf(whole);
    const places = [];
    for (let at = 1_000; at < pagesEnd; at += 490_001) places.push(at);
    for (const at of sampleOf(places, 2)) {
      const damaged = Buffer.from(whole);
      damaged[at] = (damaged[at] ?? 0) ^ 4;
      writeFileSync(`${path}.new`, damaged, { mode: 0o600 });
      renameSync(`${path}.new`, `${path}.ckpt`);
      expect([at, isDeepStrictEqual(await openedFacts(path, {}), facts)]).toEqual([at, true]);
    }
    // Nor does an append lose anything by it.
    const opened = await openSession(path, { checkpoint: "read" });
    const { id } = await opened.append({ type: "custom", customType: "more" });
    expect(opened.leaf).toBe(id);
    const after = await openedFacts(path, { checkpoint: "off" });
    expect(isDeepStrictEqual(await factsOf(opened), after)).toBe(true);
    await opened.close();
  });
});
