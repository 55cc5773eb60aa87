/**
 * Reads a JSON value from a file field by field, each with its type and range. Only own members
 * that are asked for count, and what is handed on is strings, numbers, and records that are asked
 * for as such: what keys a file has beside them, `__proto__` included, has no effect.
 */

import type { JsonObject } from "@branchlog/streaming";

/** See the file comment. Every question throws `TypeError` for what the file should not hold. */
export class SavedFields {
  readonly #value: object;

  constructor(value: unknown) {
    this.#value = savedObject(value);
  }

  /** A whole number from `min` to `max`. */
  whole(key: string, min: number, max: number): number {
    return wholeNumber(this.#own(key), min, max);
  }

  /** A number that is neither NaN nor infinite. */
  finite(key: string): number {
    return finiteNumber(this.#own(key));
  }

  /** Epoch ms that a `Date` can hold. */
  dateMs(key: string): number {
    const value = this.finite(key);
    if (Number.isNaN(new Date(value).getTime())) throw malformed("a time", key);
    return value;
  }

  text(key: string): string {
    return savedText(this.#own(key));
  }

  /** Undefined if the member is missing. */
  optionalText(key: string): string | undefined {
    return this.has(key) ? this.text(key) : undefined;
  }

  /** Anything but an object or a list; undefined if the member is missing. */
  scalar(key: string): unknown {
    const value = this.has(key) ? this.#own(key) : undefined;
    if (typeof value === "object" && value !== null) throw malformed("a plain value", key);
    return value;
  }

  flag(key: string): boolean {
    const value = this.#own(key);
    if (typeof value !== "boolean") throw malformed("true or false", key);
    return value;
  }

  /** One of a few strings. */
  oneOf<T extends string>(key: string, all: readonly T[]): T {
    const value = this.#own(key);
    const found = all.find((one) => one === value);
    if (found === undefined) throw malformed(`one of ${all.join(", ")}`, key);
    return found;
  }

  isNull(key: string): boolean {
    return this.#own(key) === null;
  }

  has(key: string): boolean {
    return Object.hasOwn(this.#value, key);
  }

  /** The members of an object. */
  fields(key: string): SavedFields {
    return new SavedFields(this.#own(key));
  }

  /** An object as it was stored, whatever its keys: it is to be read, and copied to no other. */
  stored(key: string): JsonObject {
    // Decoding boundary: the value is one that JSON.parse returned.
    return savedObject(this.#own(key)) as JsonObject;
  }

  /** What `read` makes of each element of a list of at most so many. */
  list<T>(key: string, lengthMax: number, read: (element: unknown) => T): T[] {
    return savedList(this.#own(key), lengthMax).map((element) => read(element));
  }

  #own(key: string): unknown {
    if (!Object.hasOwn(this.#value, key)) throw malformed("a value", key);
    const value: unknown = Reflect.get(this.#value, key);
    return value;
  }
}

function savedObject(value: unknown): object {
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return value;
  throw malformed("an object");
}

/** A list of at most so many elements. Throws `TypeError`. */
function savedList(value: unknown, lengthMax: number): readonly unknown[] {
  if (!Array.isArray(value) || value.length > lengthMax) throw malformed("a shorter list");
  return value;
}

/** A list of exactly so many values. Throws `TypeError`. */
export function savedTuple(value: unknown, length: number): readonly unknown[] {
  const list = savedList(value, length);
  if (list.length < length) throw malformed("a longer list");
  return list;
}

/** A string. Throws `TypeError`. */
export function savedText(value: unknown): string {
  if (typeof value !== "string") throw malformed("a string");
  return value;
}

/** A whole number from `min` to `max`. Throws `TypeError`. */
export function wholeNumber(value: unknown, min: number, max: number): number {
  const isWhole = typeof value === "number" && Number.isSafeInteger(value);
  if (!isWhole || value < min || value > max) throw malformed(`a whole number to ${max}`);
  return value;
}

/** A number that is neither NaN nor infinite. Throws `TypeError`. */
export function finiteNumber(value: unknown): number {
  if (typeof value !== "number" || !Number.isFinite(value)) throw malformed("a number");
  return value;
}

/** The error for a file that is not what was saved; it is caught where the file is opened. */
export function malformed(wanted: string, key?: string): TypeError {
  return new TypeError(`A saved file has no ${wanted}${key === undefined ? "" : ` at ${key}`}.`);
}
