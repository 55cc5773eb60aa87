/** Values of a JSON text that Branchlog saved, read by type and range: a file may hold anything. */
import type { JsonObject } from "@branchlog/streaming";
import { isDate } from "./json-fields.ts";

/**
 * A JSON object of a file, read by type and range. Other own keys, and `__proto__`, have no effect.
 * Every method throws `TypeError` for invalid values.
 */
export class SavedFields {
  readonly #value: object;

  constructor(value: unknown) {
    this.#value = savedObject(value);
  }

  whole(key: string, min: number, max: number): number {
    return wholeNumber(this.#own(key), min, max);
  }

  finite(key: string): number {
    return finiteNumber(this.#own(key));
  }

  dateMs(key: string): number {
    const value = this.finite(key);
    if (!isDate(value)) throw malformed("a time", key);
    return value;
  }

  optionalDateMs(key: string): number | undefined {
    return this.has(key) ? this.dateMs(key) : undefined;
  }

  text(key: string): string {
    return savedText(this.#own(key));
  }

  optionalText(key: string): string | undefined {
    return this.has(key) ? this.text(key) : undefined;
  }

  nullableText(key: string): string | null {
    return this.isNull(key) ? null : this.text(key);
  }

  scalar(key: string): unknown {
    const value = this.has(key) ? this.#own(key) : undefined;
    if (typeof value === "object" && value !== null) throw malformed("a plain value", key);
    return value;
  }

  flag(key: string): boolean {
    const value = this.#own(key);
    if (typeof value !== "boolean") throw malformed("a boolean", key);
    return value;
  }

  oneOf<T extends string>(key: string, all: readonly T[]): T {
    const value = this.#own(key);
    for (const one of all) if (one === value) return one;
    throw malformed(`one of ${all.join(", ")}`, key);
  }

  isNull(key: string): boolean {
    return this.#own(key) === null;
  }

  has(key: string): boolean {
    return Object.hasOwn(this.#value, key);
  }

  fields(key: string): SavedFields {
    return new SavedFields(this.#own(key));
  }

  /** As stored, with any keys: read it, never copy it to another object. */
  stored(key: string): JsonObject {
    // Decoding boundary: the value is one that JSON.parse returned.
    return savedObject(this.#own(key)) as JsonObject;
  }

  list<T>(key: string, lengthMax: number, read: (element: unknown) => T): T[] {
    return savedList(this.#own(key), lengthMax).map((element) => read(element));
  }

  /** Key and value of each entry of a map. */
  pairs<T>(key: string, lengthMax: number, read: (value: unknown) => T): (readonly [string, T])[] {
    return this.list(key, lengthMax, (element) => savedPair(element, read));
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

export function savedList(value: unknown, lengthMax: number): readonly unknown[] {
  if (!Array.isArray(value) || value.length > lengthMax) throw malformed("a shorter list");
  return value;
}

export function savedTuple(value: unknown, length: number): readonly unknown[] {
  const list = savedList(value, length);
  if (list.length < length) throw malformed("a longer list");
  return list;
}

export function savedPair<T>(value: unknown, read: (value: unknown) => T): readonly [string, T] {
  const [key, stored] = savedTuple(value, 2);
  return [savedText(key), read(stored)];
}

export function savedText(value: unknown): string {
  if (typeof value !== "string") throw malformed("a string");
  return value;
}

export function wholeNumber(value: unknown, min: number, max: number): number {
  const isWhole = typeof value === "number" && Number.isSafeInteger(value);
  if (!isWhole || value < min || value > max) throw malformed(`an integer up to ${max}`);
  return value;
}

export function finiteNumber(value: unknown): number {
  if (typeof value !== "number" || !Number.isFinite(value)) throw malformed("a number");
  return value;
}

export function malformed(wanted: string, key?: string): TypeError {
  return new TypeError(
    `Invalid saved file: expected ${wanted}${key === undefined ? "" : ` at ${key}`}.`,
  );
}
