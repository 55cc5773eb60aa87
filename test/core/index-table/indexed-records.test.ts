/**
 * What the index keeps of each record, from its envelope and from its parsed value alike, and which
 * records it leaves out.
 */
import { LineFramer } from "@branchlog/streaming";
import type { JsonObject } from "@branchlog/streaming";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { LogIndexer } from "../../../packages/core/src/index-table/log-indexer.ts";
import { rowFlags } from "../../../packages/core/src/index-table/row-table.ts";

const timestamp = "2026-11-21T20:28:20.131Z";
const timeMs = Date.parse(timestamp);

function headerOf(version: number): string {
  return JSON.stringify({ type: "session", version, id: "s", timestamp, cwd: "/" });
}

interface IndexedRow {
  readonly id: string;
  readonly parentId: string | null | undefined;
  readonly type: string;
  readonly role: string | undefined;
  readonly customType: string | undefined;
  readonly time: number;
  readonly isEnvelope: boolean;
  readonly marks: readonly string[];
}

interface Indexed {
  readonly rows: readonly IndexedRow[];
  readonly folded: readonly string[];
  readonly diagnostics: readonly { readonly kind: string; readonly line: number | undefined }[];
  readonly header: unknown;
  readonly before: number;
  readonly records: number;
}

const marks = ["endsWithObject", "hasPayload", "tailForm", "exactTime", "root"] as const;

function indexed(lines: readonly string[], lineBytesMax?: number): Indexed {
  const folded: string[] = [];
  const text = Buffer.from(lines.map((line) => `${line}\n`).join(""));
  const indexer: LogIndexer = new LogIndexer({
    readLong: (offset, length) => ({
      ok: true,
      value: JSON.parse(text.toString("utf8", offset, offset + length)) as JsonObject,
    }),
    onFolded: (row) => folded.push(indexer.index.idOf(row)),
  });
  new LineFramer(lineBytesMax === undefined ? {} : { lineBytesMax }).push(text, indexer);
  const { index } = indexer;
  const { rows } = index;
  return {
    rows: Array.from({ length: index.count }, (_, row) => ({
      id: index.idOf(row),
      parentId: index.parentIdOf(row),
      ...kindOf(indexer, row),
      time: rows.time(row),
      isEnvelope: rows.is(row, rowFlags.provisional),
      marks: marks.filter((name) => rows.is(row, rowFlags[name])),
    })),
    folded,
    diagnostics: indexer.diagnostics.entries.map(({ kind, line }) => ({ kind, line })),
    header: indexer.header?.header.id,
    before: indexer.entriesBeforeHeader,
    records: indexer.lines.save().recordCount,
  };
}

function kindOf(
  { index }: LogIndexer,
  row: number,
): Pick<IndexedRow, "type" | "role" | "customType"> {
  const { type, role, customType } = index.kindOf(row);
  return { type, role, customType };
}

function entry(fields: object, id: unknown = "0000000a", parentId: unknown = null): object {
  const { type = "custom", ...rest } = fields as { readonly type?: unknown };
  return { type, id, parentId, timestamp, ...rest };
}

/** The same record in a form that no agent writes, so that it is parsed. */
function unusual(record: object): string {
  return JSON.stringify(record).replace("{", "{ ");
}

function rowOf(line: string, version = 3): IndexedRow | undefined {
  return indexed([headerOf(version), line]).rows[0];
}

describe("a row", () => {
  it.each([
    [{ type: "message", message: { role: "user", content: "x" } }, { role: "user" }],
    [{ type: "message", message: null }, { role: undefined }],
    [{ type: "message", message: ["role"] }, { role: undefined }],
    [{ type: "message", message: { role: 5 } }, { role: undefined }],
    [{ type: "note", message: { role: "user" } }, { role: undefined }],
    [{ type: "custom", customType: "x", data: {} }, { customType: "x" }],
    [{ type: "custom_message", customType: "y", content: "" }, { customType: "y" }],
    [{ type: "custom", customType: 5 }, { customType: undefined }],
    [{ type: "note", customType: "x" }, { customType: undefined }],
    [{ type: "model_change", model: "a/b", role: "smol" }, { role: "smol" }],
    [{ type: "model_change", provider: "a", modelId: "b" }, {}],
  ])("of %j has its kind, however it is stored", (fields, kind) => {
    const record = entry(fields);
    const parsed = rowOf(unusual(record));
    expect(parsed).toMatchObject({ id: "0000000a", parentId: null, type: fields.type, ...kind });
    expect(parsed?.isEnvelope).toBe(false);
    const { isEnvelope: _one, marks: _own, ...stored } = rowOf(JSON.stringify(record)) ?? {};
    expect(parsed).toMatchObject(stored);
  });

  it("of a hook's message is custom in version 2, and unchanged in version 3", () => {
    const record = entry({ type: "message", message: { role: "hookMessage", content: "x" } });
    for (const line of [JSON.stringify(record), unusual(record)]) {
      expect(rowOf(line, 2)).toMatchObject({ role: "custom", isEnvelope: false });
      expect(rowOf(line, 3)).toMatchObject({ role: "hookMessage", isEnvelope: false });
    }
  });

  it("with an empty parent, or one of another type, is a root", () => {
    for (const parentId of ["", 5, undefined]) {
      const record = { ...entry({ type: "message", message: { role: "user" } }), parentId };
      const line = JSON.stringify(record);
      expect(rowOf(line)).toMatchObject({ parentId: null, isEnvelope: false });
    }
  });

  it("from an envelope is that of the parsed record (a law)", () => {
    const id = fc.constantFrom("00000000", "ffffffff", "0000000g", "note", "ü", "FFFFFFFF");
    const record = fc.record({
      type: fc.constantFrom("message", "custom", "note", "label", "session_info"),
      id,
      parentId: fc.option(id),
      timestamp: fc.constantFrom(timestamp, "2026-11-21T20:28:20Z", "", "1999-12-31T23:59:59.999Z"),
      message: fc.record({ role: fc.constantFrom("user", "assistant", "toolResult", "") }),
    });
    fc.assert(
      fc.property(fc.array(record, { maxLength: 6 }), (records) => {
        const stored = indexed([headerOf(3), ...records.map((one) => JSON.stringify(one))]);
        const parsed = indexed([headerOf(3), ...records.map((one) => unusual(one))]);
        const plain = ({ rows, ...rest }: Indexed): object => ({
          ...rest,
          rows: rows.map(({ isEnvelope: _one, marks: _own, ...row }) => row),
        });
        expect(plain(stored)).toEqual(plain(parsed));
        expect(parsed.rows.some(({ isEnvelope }) => isEnvelope)).toBe(false);
      }),
      { numRuns: 500 },
    );
  });
});

describe("a record that is not an entry", () => {
  it.each([
    ["without an id", { type: "message" }, ["not-an-entry"]],
    ["with an id of another type", { type: "message", id: 5 }, ["not-an-entry"]],
    ["without a type", { id: "a", parentId: null }, ["not-an-entry"]],
    ["a second header", { type: "session", id: "t" }, ["second-header"]],
    ["a second header without an id", { type: "session" }, ["second-header"]],
    ["a title slot", { type: "title", v: 1 }, []],
  ])("%s is counted and reported", (_what, record, kinds) => {
    const found = indexed([headerOf(3), JSON.stringify(record)]);
    expect(found.rows).toEqual([]);
    expect(found.diagnostics).toEqual(kinds.map((kind) => ({ kind, line: 2 })));
    expect(found).toMatchObject({ header: "s", records: 2, before: 0 });
  });

  it("before the header is reported, and counted as an entry if it could be one", () => {
    const cases: readonly (readonly [object, number])[] = [
      [{ type: "message", id: "a" }, 1],
      [{ type: "message", message: {} }, 1],
      [{ type: "message" }, 0],
      [{ id: "a", message: {} }, 0],
      [{ type: 5, id: "a" }, 0],
    ];
    for (const [record, before] of cases) {
      const found = indexed([JSON.stringify(record), headerOf(3)]);
      expect(found).toMatchObject({ header: "s", records: 2, before, rows: [] });
      expect(found.diagnostics).toEqual([{ kind: "before-header", line: 1 }]);
    }
    const slot = indexed([JSON.stringify({ type: "title", v: 1 }), headerOf(3)]);
    expect(slot).toMatchObject({ header: "s", records: 1, before: 0, diagnostics: [] });
  });

  it("is a bad line when it is a header without an id, and a later header counts", () => {
    const found = indexed([JSON.stringify({ type: "session", version: 3 }), headerOf(3)]);
    expect(found).toMatchObject({ header: "s", records: 2, before: 0 });
    expect(found.diagnostics).toEqual([{ kind: "bad-line", line: 1 }]);
  });
});

it("entries of version 1 have ids by their lines, each the child of the one before", () => {
  const say = (content: string): string =>
    JSON.stringify({ type: "message", timestamp, message: { role: "user", content } });
  const own = JSON.stringify(
    entry({ type: "message", message: { role: "user" } }, "0000000a", "x"),
  );
  const { rows, records, diagnostics } = indexed([headerOf(1), say("a"), own, say("b")]);
  const ids = rows.map(({ id }) => id);
  expect(new Set(ids).size).toBe(3);
  expect(ids).not.toContain("0000000a");
  expect(rows.map(({ parentId }) => parentId)).toEqual([null, ...ids.slice(0, 2)]);
  expect(rows.every(({ isEnvelope, time }) => !isEnvelope && time === timeMs)).toBe(true);
  expect({ records, diagnostics }).toEqual({ records: 4, diagnostics: [] });
  const elsewhere = headerOf(1).replace('"id":"s"', '"id":"t"');
  expect(indexed([elsewhere, say("a")]).rows[0]?.id).not.toBe(ids[0]);
});
