/**
 * Reads fields of foreign JSON: stored entries, and records of other agents, whose
 * formats are not ours and change. Pure; no answer throws.
 */
import type { JsonObject, JsonValue } from "@branchlog/streaming";

/** Whether a value is a JSON object: not null, not a list. */
export function isObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** An object field; undefined for anything else. */
export function objectAt(record: JsonObject | undefined, key: string): JsonObject | undefined {
  const value = record?.[key];
  return isObject(value) ? value : undefined;
}

/** A string field; undefined for anything else. */
export function stringAt(record: JsonObject | undefined, key: string): string | undefined {
  const value = record?.[key];
  return typeof value === "string" ? value : undefined;
}

/** The elements of a list field; none for anything else. */
export function listAt(record: JsonObject | undefined, key: string): readonly JsonValue[] {
  const value = record?.[key];
  return Array.isArray(value) ? value : [];
}

/** A count: 0 for anything that is not a number from 0 on. */
export function countAt(record: JsonObject | undefined, key: string): number {
  const value = record?.[key];
  return typeof value === "number" && Number.isFinite(value) && value > 0 ? value : 0;
}

/** A copy of the record without some of its fields. */
export function withoutKeys(record: JsonObject, keys: ReadonlySet<string>): JsonObject {
  return Object.fromEntries(Object.entries(record).filter(([key]) => !keys.has(key)));
}

/** The time of a record as a log stores it; undefined if it has none that can be read. */
export function timeAt(record: JsonObject | undefined, key: string): string | undefined {
  const text = stringAt(record, key) ?? "";
  const ms = Date.parse(text);
  if (Number.isNaN(ms)) return undefined;
  // Most have that form already, and building it costs five times as much as parsing it.
  return isoForm.test(text) ? text : new Date(ms).toISOString();
}

const isoForm = /^\d{4}-\d\d-\d\dT[0-2]\d:\d\d:\d\d\.\d{3}Z$/;

/** Whether a value has more than so many levels. Iterative: depth is what it guards against. */
export function isDeeper(value: JsonValue, levelsMax: number): boolean {
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
