/**
 * Reads fields of foreign JSON, whose format may change: a value of another type counts as absent.
 * Pure; throws nothing.
 */
import type { JsonObject, JsonValue } from "@branchlog/streaming";

export function isObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export function objectAt(record: JsonObject | undefined, key: string): JsonObject | undefined {
  const value = record?.[key];
  return isObject(value) ? value : undefined;
}

export function stringAt(record: JsonObject | undefined, key: string): string | undefined {
  const value = record?.[key];
  return typeof value === "string" ? value : undefined;
}

/** Empty for anything but a list. */
export function listAt(record: JsonObject | undefined, key: string): readonly JsonValue[] {
  const value = record?.[key];
  return Array.isArray(value) ? value : [];
}

/** 0 for anything but a number from 0 on. */
export function countAt(record: JsonObject | undefined, key: string): number {
  const value = record?.[key];
  return typeof value === "number" && Number.isFinite(value) && value > 0 ? value : 0;
}

export function withoutKeys(record: JsonObject, keys: ReadonlySet<string>): JsonObject {
  return Object.fromEntries(Object.entries(record).filter(([key]) => !keys.has(key)));
}

/** Iterative, since it guards against depth. */
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
