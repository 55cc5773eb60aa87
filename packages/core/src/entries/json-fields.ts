/**
 * Reads fields of foreign JSON, whose format may change: a value of another type counts as absent.
 * Pure; throws nothing.
 */
import type { JsonObject, JsonValue } from "@branchlog/streaming";

export function isObject(value: unknown): value is JsonObject {
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

/** In epoch ms; undefined for what no Date can hold. */
export function dateMs(value: unknown): number | undefined {
  return typeof value === "number" && isDate(value) ? value : undefined;
}

/** The range of a Date, in epoch ms. */
const dateMsMax = 8.64e15;

export function isDate(timeMs: number): boolean {
  return Math.abs(timeMs) <= dateMsMax;
}

/** 0 for anything but a number from 0 on. */
export function countAt(record: JsonObject | undefined, key: string): number {
  const value = record?.[key];
  return typeof value === "number" && Number.isFinite(value) && value > 0 ? value : 0;
}
