/** What the text of a checkpoint says of a log: what is taken up is what was saved, or nothing. */
import { describe, expect, it } from "vitest";
import {
  readDiagnostics,
  readFolded,
  readKinds,
} from "../../../packages/core/src/checkpoint/saved-facts.ts";
import { SavedFields } from "../../../packages/core/src/entries/saved-fields.ts";
import { diagnosticsMax } from "../../../packages/core/src/limits.ts";
import { foldedVersions } from "../../../packages/core/src/projections/folded.ts";

const log = { end: 1_000, entriesFrom: 100, lineNumber: 2_000, isTranscript: false };
const folded = {
  versions: foldedVersions,
  labels: [["one", { label: "L", timestamp: "t" }]],
  labelled: ["one"],
  names: ["N"],
  dialect: "omp",
  usage: null,
};

describe("the kinds of a checkpoint", () => {
  const read = (kinds: unknown): unknown => readKinds(new SavedFields({ kinds }), log);

  it("are those that differ in type, role or custom type", () => {
    const kinds = [
      { type: "message" },
      { type: "message", role: "user" },
      { type: "custom" },
      { type: "custom", customType: "" },
      { type: "custom", customType: "user" },
    ];
    expect(read(kinds)).toEqual(kinds);
  });

  it.each([
    [[{ type: "message" }, { type: "message" }]],
    [
      [
        { type: "custom", customType: "x" },
        { type: "custom", customType: "x" },
      ],
    ],
    [[{}]],
    [[{ type: 1 }]],
    [[{ type: "message", role: 1 }]],
  ])("are not loaded from %j", (kinds) => {
    expect(() => read(kinds)).toThrow(TypeError);
  });
});

describe("the findings of a checkpoint", () => {
  const read = (entries: unknown, counts: unknown): unknown =>
    readDiagnostics(new SavedFields({ entries, counts }), log);
  const finding = { kind: "bad-line", reason: "r", offset: 0, length: 1_000, line: 1, id: "i" };

  it("are those that one log keeps, with their positions", () => {
    const bare = { kind: "not-an-entry", reason: "r" };
    const entries = [bare, ...Array.from({ length: diagnosticsMax }, () => finding)];
    const counts = [
      ["bad-line", 1_000],
      ["not-an-entry", 1],
    ];
    expect(read(entries, counts)).toEqual({ entries, counts });
  });

  it.each([
    [{ ...finding, kind: "lost-entries" }],
    [{ ...finding, kind: "missing-parent" }],
    [{ ...finding, kind: "cycle" }],
    [{ ...finding, kind: "toString" }],
    [{ ...finding, offset: 1_001 }],
    [{ ...finding, length: -1 }],
    [{ ...finding, line: 0 }],
    [{ ...finding, line: 2_001 }],
    [{ ...finding, id: 1 }],
    [{ kind: "bad-line" }],
  ])("are not loaded from %j", (entry) => {
    expect(() => read([entry], [])).toThrow(TypeError);
  });

  it.each([[["bad-line", 0]], [["bad-line", 1_001]], [["toString", 1]], [["bad-line"]]])(
    "are not loaded with the count %j",
    (count) => {
      expect(() => read([], [count])).toThrow(TypeError);
    },
  );
});

describe("the folded values of a checkpoint", () => {
  const read = (change: object): unknown =>
    readFolded(new SavedFields({ ...folded, ...change }), log, 3);

  it("is loaded as saved, also when a session lost its name or has no dialect", () => {
    expect(read({})).toEqual(folded);
    expect(read({ names: [null], dialect: null })).toMatchObject({ names: [null], dialect: null });
    expect(read({ names: [] })).toMatchObject({ names: [] });
  });

  it.each([
    [{ versions: foldedVersions.map((version) => version + 1) }],
    [{ versions: foldedVersions.slice(1) }],
    [{ versions: [] }],
    [{ labels: [["one"]] }],
    [{ labels: [["one", { label: 1 }]] }],
    [{ labels: [["one", { label: "L", timestamp: {} }]] }],
    [{ labelled: [1] }],
    [{ names: ["a", "b"] }],
    [{ names: [1] }],
    [{ dialect: "other" }],
    [{ usage: { rows: 4, models: [], total: [], unattributed: [] } }],
  ])("is not loaded with %j", (change) => {
    expect(() => read(change)).toThrow(TypeError);
  });

  const sums = [1, 1, 1, 1, 1, 1, 0.5];
  const usage = { rows: 3, total: sums, unattributed: sums, models: [["p", "m", sums]] };

  it("is loaded with its usage", () => {
    expect(read({ usage })).toMatchObject({ usage });
  });

  it.each([
    [{ rows: 0 }],
    [{ total: sums.slice(1) }],
    [{ total: [...sums, 1] }],
    [{ unattributed: [4, ...sums.slice(1)] }],
    [{ unattributed: [-1, ...sums.slice(1)] }],
    [{ models: [["p", "m"]] }],
    [{ models: [["p", 1, sums]] }],
    [{ models: [["p", "m", ["x", ...sums.slice(1)]]] }],
    [{ models: [["p", "m", [1, "x", ...sums.slice(2)]]] }],
  ])("is not loaded with a usage of %j", (change) => {
    expect(() => read({ usage: { ...usage, ...change } })).toThrow(TypeError);
  });
});
