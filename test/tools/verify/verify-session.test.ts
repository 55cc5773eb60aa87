/** What `verify` says of a log: every number, every place, and that it trusts no sidecar. */
import { openSync, readFileSync, utimesSync, writeFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { openSession } from "@branchlog/core";
import type { OpenOptions } from "@branchlog/core";
import {
  MemoryFileSystem,
  createMemoryPorts,
  fileError,
  sampleHeader,
  sampleTime,
  userEntry,
} from "@branchlog/core/testing";
import { verifySession } from "@branchlog/tools";
import type { VerifyReport } from "@branchlog/tools";
import { temporaryDirectory } from "../../support/temporary-directory.ts";
import { tornEntry } from "../../support/torn-entry.ts";

const header = JSON.stringify(sampleHeader({ cwd: "/" }));
const entry = (id: string, parentId: string | null): string =>
  JSON.stringify(userEntry(id, parentId, id));

/** Writes lines, each with its newline, and an end without one, which may still be being written. */
function logOf(lines: readonly string[], end = ""): string {
  const path = join(temporaryDirectory(), "s.jsonl");
  writeFileSync(path, `${[header, ...lines].join("\n")}\n${end}`);
  const changed = new Date(Date.now() + 3_600_000);
  utimesSync(path, changed, changed);
  return path;
}

async function verified(path: string, options: OpenOptions = {}): Promise<VerifyReport> {
  return verifySession(await openSession(path, { access: "read", ...options }));
}

/** Byte offsets of the lines of a log of one-byte characters, the header's first. */
function offsetsOf(lines: readonly string[]): number[] {
  const offsets = [0];
  for (const line of [header, ...lines]) offsets.push((offsets.at(-1) ?? 0) + line.length + 1);
  return offsets;
}

describe("a log with every kind of damage", () => {
  const torn = '{"type":"message","id":"t","par';
  const changed = entry("c", null).replace(/\}$/, ',"id":"other","x":{"y":1}}');
  const lines = [
    entry("a", null),
    torn,
    "{no json",
    "[1]",
    "\0\0\0",
    "",
    tornEntry("d", "a"),
    changed,
    entry("a", null),
    entry("below", "d"),
    entry("orphan", "gone"),
    entry("p", "q"),
    entry("q", "p"),
    entry("r", "q"),
    entry("self", "self"),
  ];

  it("is reported with exact numbers and places", async () => {
    const end = '{"type":"cus';
    const log = logOf(lines, end);
    const { path, ...report } = await verified(log);
    expect(path).toBe(log);
    const file = "golden/every-damage.txt";
    await expect(`${JSON.stringify(report, null, 1)}\n`).toMatchFileSnapshot(file);
  });

  it("is reported the same with any limit on lines, except for ids that must be parsed", async () => {
    const path = logOf(lines.filter((line) => line !== changed));
    const wanted = await verified(path);
    for (const lineBytesMax of [200, 64, 16]) {
      expect(await verified(path, { lineBytesMax })).toEqual(wanted);
    }
  });

  it("is left as it is (Verifies: P8)", async () => {
    const path = logOf(lines);
    const before = readFileSync(path);
    await verified(path);
    expect(readFileSync(path)).toEqual(before);
  });
});

it("lists of damage end after 1,000 of a kind, while the numbers are exact", async () => {
  const many = (count: number, line: (i: number) => string): string[] =>
    Array.from({ length: count }, (_, i) => line(i));
  const path = logOf([
    ...many(3000, () => '{"torn":'),
    "junk",
    ...many(1500, (i) => tornEntry(`d${i}`, null)),
    ...many(1300, (i) => entry(`o${i}`, "gone")),
    ...many(1200, (i) => entry(`s${i}`, `s${i}`)),
    ...many(1100, (i) => entry(`s${i}`, `s${i}`)),
  ]);
  const report = await verified(path);
  expect(report).toMatchObject({
    badLineCount: 4501,
    badLineCounts: { torn: 4500, "not-json": 1 },
    damagedEntryCount: 1500,
    orphanCount: 1300,
    duplicateIdCount: 1100,
    cycleCount: 1200,
    cyclicEntryCount: 1200,
    entries: 3600,
  });
  expect(report.badLines).toHaveLength(1001);
  expect(report.badLines.at(-1)).toMatchObject({ line: 3002, reason: "not-json" });
  const { damagedEntries, orphans, duplicateIds, cycles } = report;
  for (const list of [damagedEntries, orphans, duplicateIds, cycles]) {
    expect(list).toHaveLength(1000);
  }
});

describe("any log", () => {
  const ids = fc.constantFrom("a", "b", "c", "d", "00000001", "00000002");
  const links = { id: ids, parent: fc.option(ids, { nil: null }) };
  const line = fc.oneof(
    { weight: 4, arbitrary: fc.record({ kind: fc.constant("entry" as const), ...links }) },
    fc.record({ kind: fc.constant("damaged" as const), ...links }),
    fc.record({ kind: fc.constantFrom("torn" as const, "junk" as const, "blank" as const) }),
  );
  type Line = typeof line extends fc.Arbitrary<infer T> ? T : never;

  function textOf(what: Line): string {
    switch (what.kind) {
      case "entry":
        return entry(what.id, what.parent);
      case "damaged":
        return tornEntry(what.id, what.parent);
      case "torn":
        return '{"type":"mes';
      case "junk":
        return "junk";
      case "blank":
        return " ";
    }
  }

  it("has the same numbers as a naive count", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(line, { maxLength: 14 }), async (lines) => {
        const fs = new MemoryFileSystem();
        const text = `${[header, ...lines.map((what) => textOf(what))].join("\n")}\n`;
        fs.writeFileSync("/s.jsonl", Buffer.from(text));
        const report = await verified("/s.jsonl", { ports: createMemoryPorts({ fs }) });
        const count = (kind: Line["kind"]): number =>
          lines.filter((what) => what.kind === kind).length;
        const entries = lines.flatMap((what) => (what.kind === "entry" ? [what] : []));
        const known = new Set(lines.flatMap((what) => ("id" in what ? [what.id] : [])));
        const nodes = new Map(entries.map(({ id, parent }) => [id, parent]));
        const orphans = [...nodes.values()].filter(
          (parent) => parent !== null && !known.has(parent),
        );
        expect(report).toMatchObject({
          sizeBytes: text.length,
          lines: lines.length + 1,
          blankLines: count("blank"),
          entries: entries.length,
          records: entries.length + 1,
          badLineCounts: { torn: count("torn") + count("damaged"), "not-json": count("junk") },
          damagedEntryCount: count("damaged"),
          duplicateIdCount: entries.length - nodes.size,
          orphanCount: orphans.length,
          pending: null,
        });
        expect(report.duplicateIds).toHaveLength(report.duplicateIdCount);
        expect(report.orphans).toHaveLength(report.orphanCount);
        expect(report.cycles).toHaveLength(report.cycleCount);
        const offsets = offsetsOf(lines.map((what) => textOf(what)));
        const { badLines, damagedEntries, duplicateIds, cycles } = report;
        for (const found of [badLines, damagedEntries, duplicateIds, report.orphans, cycles]) {
          for (const place of found) expect(place.offset).toBe(offsets[place.line - 1]);
        }
      }),
      { numRuns: 300 },
    );
  });
});

describe("verifying", () => {
  it("finds a flipped byte in an entry that was read before, and changes no session", async () => {
    const path = logOf(Array.from({ length: 100 }, (_, i) => entry(`e${i}`, null)));
    const session = await openSession(path, { access: "read" });
    const wanted = await session.entry("e50");
    const at = readFileSync(path).indexOf('"id":"e50"');
    writeSync(openSync(path, "r+"), "X", at);
    const report = await verifySession(session);
    expect(report).toMatchObject({ ok: false, badLineCount: 1, entries: 99, lines: 101 });
    expect(await session.entry("e50")).toEqual(wanted);
    expect(session.diagnostics).toEqual([]);
  });

  it.each([
    ["a record", entry("b", null), "record"],
    ["a record that is too long to join", entry("b".repeat(500), null), "record"],
    ["a fragment", entry("b", null).slice(0, -1), "fragment"],
  ])("counts %s at the end only there", async (_what, end, kind) => {
    const path = logOf([entry("a", null)], end);
    expect(await verified(path, { lineBytesMax: 300 })).toMatchObject({
      ok: true,
      lines: 2,
      records: 2,
      entries: 1,
      pending: { kind, length: end.length },
    });
  });

  it.each([
    ["a truncated record", entry("b", null).slice(0, -1), "torn"],
    ["one too long to join", entry("b".repeat(500), null).slice(0, -1), "torn"],
    ["NUL bytes", "\0\0\0", "nul-bytes"],
    ["text", "Killed", "not-json"],
  ])("counts %s at the end as a bad line when the file is old", async (_what, end, reason) => {
    const path = logOf([entry("a", null)], end);
    utimesSync(path, new Date(0), new Date(0));
    const offset = readFileSync(path).length - end.length;
    expect(await verified(path, { lineBytesMax: 300 })).toMatchObject({
      ok: false,
      lines: 3,
      entries: 1,
      badLines: [{ line: 3, offset, length: end.length, reason }],
      findings: [{ kind: reason, weight: "damage", count: 1 }],
      pending: null,
    });
  });

  it.each([16, 1_000_000])(
    "finds bytes that are not UTF-8 in lines of any length (%i are joined)",
    async (lineBytesMax) => {
      const path = logOf([entry("a", null), entry("b", null), entry("€€", null)]);
      const bytes = readFileSync(path);
      const at = bytes.indexOf('"b"');
      writeFileSync(path, bytes.fill(0xff, at + 1, at + 2));
      expect(await verified(path, { lineBytesMax })).toMatchObject({
        ok: false,
        invalidUtf8Count: 1,
        invalidUtf8: [{ line: 3 }],
        findings: [{ kind: "invalid-utf8", count: 1 }],
      });
    },
  );

  it("recognises the entries of version 1, whose lines have no ids", async () => {
    const path = join(temporaryDirectory(), "s.jsonl");
    const old = { type: "session", id: "s", timestamp: sampleTime, cwd: "/" };
    const say = { type: "message", timestamp: sampleTime, message: { role: "user", content: "x" } };
    const lines = [old, say, { ...say, id: "own" }].map((line) => JSON.stringify(line));
    writeFileSync(path, `${lines.join("\n")}\n`);
    expect(await verified(path)).toMatchObject({ ok: true, entries: 2, damagedEntryCount: 0 });
  });

  it("ends with the reason of its signal, and fails with a code if reading fails", async () => {
    const fs = new MemoryFileSystem();
    fs.writeFileSync("/s.jsonl", Buffer.from(`${header}\n${entry("a", null)}\n`));
    const session = await openSession("/s.jsonl", { ports: createMemoryPorts({ fs }) });
    const reason = new RangeError("enough");
    const aborted = verifySession(session, { signal: AbortSignal.abort(reason) });
    await expect(aborted).rejects.toBe(reason);
    fs.onCall = ({ name }) => {
      if (name === "read") throw fileError("EIO", "read");
    };
    await expect(verifySession(session)).rejects.toMatchObject({ code: "ERR_LOG_UNREADABLE" });
    fs.onCall = undefined;
    expect((await verifySession(session)).ok).toBe(true);
  });
});
