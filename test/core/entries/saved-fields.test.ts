/** Reading what a file saved, field by field: each has its type and range, and nothing else counts. */
import { describe, expect, it } from "vitest";
import {
  SavedFields,
  finiteNumber,
  savedText,
  savedTuple,
  wholeNumber,
} from "../../../packages/core/src/entries/saved-fields.ts";

const dateMsMax = 8.64e15;

/** What a file holds under `key`, read as it was parsed from JSON. */
function fieldsOf(value: unknown): SavedFields {
  return new SavedFields(JSON.parse(JSON.stringify({ key: value })));
}

interface Reading {
  readonly name: string;
  readonly read: (fields: SavedFields) => unknown;
  readonly taken: readonly unknown[];
  readonly refused: readonly unknown[];
}

const readings: readonly Reading[] = [
  {
    name: "a whole number from 2 to 4",
    read: (fields) => fields.whole("key", 2, 4),
    taken: [2, 3, 4],
    refused: [1, 5, 2.5, "3", null, true, [3], {}],
  },
  {
    name: "a finite number",
    read: (fields) => fields.finite("key"),
    taken: [0, -1.5, 1e308],
    refused: ["1", null, false, [1], {}],
  },
  {
    name: "a time",
    read: (fields) => fields.dateMs("key"),
    taken: [0, -1, dateMsMax],
    refused: [dateMsMax * 2, "0", null],
  },
  {
    name: "a text",
    read: (fields) => fields.text("key"),
    taken: ["", "x"],
    refused: [1, null, true, ["x"], {}],
  },
  {
    name: "an optional text",
    read: (fields) => fields.optionalText("key"),
    taken: ["", "x"],
    refused: [1, null],
  },
  {
    name: "a plain value",
    read: (fields) => fields.scalar("key"),
    taken: [1, "x", null, true],
    refused: [[], {}],
  },
  {
    name: "a flag",
    read: (fields) => fields.flag("key"),
    taken: [true, false],
    refused: [0, 1, "true", null],
  },
  {
    name: "one of two words",
    read: (fields) => fields.oneOf("key", ["pi", "omp"]),
    taken: ["pi", "omp"],
    refused: ["", "PI", "other", null, 0],
  },
  {
    name: "a stored object",
    read: (fields) => fields.stored("key"),
    taken: [{}, { a: [1] }],
    refused: [[], null, "x", 1],
  },
  {
    name: "a list of at most two texts",
    read: (fields) => fields.list("key", 2, savedText),
    taken: [[], ["a"], ["a", "b"]],
    refused: [["a", "b", "c"], [1], "ab", { length: 0 }, null],
  },
];

describe.each(readings)("$name", ({ read, taken, refused }) => {
  it.each(taken.map((value) => [value]))("is read from %j", (value) => {
    expect(read(fieldsOf(value))).toEqual(value);
  });

  it.each(refused.map((value) => [value]))("is not read from %j", (value) => {
    expect(() => read(fieldsOf(value))).toThrow(TypeError);
  });
});

describe("the members of a saved object", () => {
  it("are an error when a required one is missing, and undefined when an optional one is", () => {
    const fields = new SavedFields({});
    expect(() => fields.text("key")).toThrow("expected a value at key");
    expect(() => fields.isNull("key")).toThrow(TypeError);
    expect(fields.has("key")).toBe(false);
    expect(fields.optionalText("key")).toBeUndefined();
    expect(fields.scalar("key")).toBeUndefined();
  });

  it("are only its own, also those with inherited names", () => {
    const inherited = new SavedFields(Object.create({ key: "x" }));
    expect(() => inherited.text("key")).toThrow(TypeError);
    const fields = new SavedFields(JSON.parse('{"__proto__":{"key":"x"}}'));
    expect(() => fields.text("key")).toThrow(TypeError);
    expect(() => fields.stored("toString")).toThrow(TypeError);
    expect(fields.fields("__proto__").text("key")).toBe("x");
  });

  it.each([[null], [[]], ["x"], [1], [undefined]])("are rejected for %j", (value) => {
    expect(() => new SavedFields(value)).toThrow("expected an object");
  });

  it("report whether they are null", () => {
    expect(fieldsOf(null).isNull("key")).toBe(true);
    expect(fieldsOf(0).isNull("key")).toBe(false);
  });
});

describe("values outside objects", () => {
  it("are numbers with a JSON form", () => {
    for (const value of [Number.NaN, Number.POSITIVE_INFINITY, "1", undefined]) {
      expect(() => finiteNumber(value)).toThrow(TypeError);
      expect(() => wholeNumber(value, 0, 9)).toThrow(TypeError);
    }
    expect(() => wholeNumber(2 ** 53, 0, 2 ** 60)).toThrow(TypeError);
    expect(finiteNumber(1)).toBe(1);
  });

  it("are arrays of exactly the requested length", () => {
    expect(savedTuple([1, 2], 2)).toEqual([1, 2]);
    for (const value of [[1], [1, 2, 3], "ab", null]) {
      expect(() => savedTuple(value, 2)).toThrow(TypeError);
    }
  });
});
