/** JSON values, and JSON text that YAML reads unchanged. Pure; throws nothing. */
import { isObject } from "@branchlog/core/rows";
import type { JsonObject, JsonValue } from "@branchlog/streaming";
import { documentDepthMax } from "./limits.ts";

export function textOf(value: JsonValue | undefined): string {
  return typeof value === "string" ? value : "";
}

/** Undefined if invalid, or nested too deeply. */
export function parsedJson(text: string): JsonValue | undefined {
  try {
    // Decoding boundary: what JSON.parse returns is a JSON value.
    const parsed = JSON.parse(text) as JsonValue;
    return isDeeper(parsed, documentDepthMax) ? undefined : parsed;
  } catch {
    return undefined;
  }
}

export function parsedObject(text: string): JsonObject | undefined {
  const parsed = parsedJson(text);
  return isObject(parsed) ? parsed : undefined;
}

export function jsonOf(value: object): JsonObject {
  const written: unknown = JSON.parse(JSON.stringify(value));
  return isObject(written) ? written : {};
}

/** The given keys first, the others in their order. */
export function inOrder(object: JsonObject, keys: readonly string[]): JsonObject {
  const placeOf = (key: string): number => (keys.includes(key) ? keys.indexOf(key) : keys.length);
  const entries = Object.entries(object);
  return Object.fromEntries(entries.sort(([one], [other]) => placeOf(one) - placeOf(other)));
}

/** Characters that JSON does not escape, and YAML does not accept. */
const unescaped = /[\u007F-\u009F\u2028\u2029\uFEFF\uFFFE\uFFFF]/g;

export function printableJson(value: JsonValue | readonly JsonValue[]): string {
  const escape = (unit: string): string => {
    return `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;
  };
  return JSON.stringify(value).replace(unescaped, escape);
}

/** Iterative, since it guards against depth. */
function isDeeper(value: JsonValue, levelsMax: number): boolean {
  let level: JsonValue[] = [value];
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth > levelsMax) return true;
    const below: JsonValue[] = [];
    for (const parent of level) {
      if (typeof parent !== "object" || parent === null) continue;
      for (const child of Array.isArray(parent) ? parent : Object.values(parent)) {
        if (typeof child === "object" && child !== null) below.push(child);
      }
    }
    level = below;
  }
  return false;
}
