/**
 * A file of more than 4 GB, sparse so that it takes no room: its entries lie before and after a
 * line of more than 2^32 bytes, so that no place in it may be kept in 32 bits.
 */
import { closeSync, openSync, truncateSync, writeSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { openSession } from "@branchlog/core";
import type { Session } from "@branchlog/core";
import { jsonLines, sampleHeader, userEntry } from "@branchlog/core/testing";
import { runs } from "../../support/fault-seed.ts";
import { temporaryDirectory } from "../../support/temporary-directory.ts";

const holeBytes = 2 ** 32 + 12_345;
const before = jsonLines(sampleHeader(), userEntry("00000001", null, "before"));
/** Ids of both kinds, more of them than a read takes at once. */
const idOf = (n: number): string => (n % 2 === 0 ? n.toString(16).padStart(8, "0") : `id ${n}`);
const count = 5_000;
const behind = jsonLines(
  ...Array.from({ length: count }, (_, n) =>
    userEntry(idOf(n + 2), n === 0 ? "00000001" : idOf(n + 1), `behind ${n} ${"x".repeat(500)}`),
  ),
);

function sparseLog(): string {
  const path = join(temporaryDirectory(), "s.jsonl");
  const fd = openSync(path, "w");
  writeSync(fd, before);
  truncateSync(path, before.length + holeBytes);
  // The hole reads as NULs: a line that is none, and longer than any memory.
  writeSync(fd, `\n${behind}`, before.length + holeBytes);
  closeSync(fd);
  return path;
}

async function expectWhole(session: Session, entries: number): Promise<void> {
  expect(session.sizeBytes).toBeGreaterThan(2 ** 32);
  expect(session.diagnostics).toEqual([
    expect.objectContaining({ kind: "bad-line", offset: before.length, length: holeBytes }),
  ]);
  expect(session.revision).toBe(entries);
  const branch = await session.branch();
  expect(branch).toHaveLength(entries);
  expect(branch[0]?.id).toBe("00000001");
  const { messages } = await session.context();
  expect(messages).toHaveLength(entries);
}

describe.runIf(runs(0, 1) > 0)("a log of more than 4 GB", () => {
  it("is read, appended to and read again with its checkpoint, also beyond 2^32 bytes", async () => {
    const path = sparseLog();
    const opened = await openSession(path);
    await expectWhole(opened, count + 1);
    expect(opened.tail).toBe(idOf(count + 1));
    const message = { role: "user", content: "more", timestamp: 1 } as const;
    const { id, position, displaced } = await opened.append({ type: "message", message });
    expect(position.offset).toBe(before.length + holeBytes + 1 + Buffer.byteLength(behind));
    expect(displaced).toBe(false);
    await opened.close();

    for (const checkpoint of ["auto", "off"] as const) {
      const again = await openSession(path, { checkpoint });
      await expectWhole(again, count + 2);
      expect(await again.entry(id)).toMatchObject({ id, parentId: idOf(count + 1), message });
      await again.close();
    }
  });
});
