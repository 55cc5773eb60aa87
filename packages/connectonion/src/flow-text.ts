/**
 * Values as YAML in flow style on one line: JSON, with texts and numbers written such that YAML 1.1
 * takes them for the same. Pure.
 */
import type { JsonValue } from "@branchlog/streaming";
import { doubleQuoted, floatKeys, floatText, numberText } from "./scalar-text.ts";

/** Longer keys are not found again without a mark of their own. */
const plainKeyUnitsMax = 100;

/** The value. */
export function flowText(value: JsonValue, isFloat: boolean = false): string {
  if (typeof value === "string") return doubleQuoted(value);
  if (typeof value === "number") return isFloat ? floatText(value) : numberText(value);
  if (value === null || typeof value === "boolean") return String(value);
  if (Array.isArray(value)) return `[${value.map((item) => flowText(item)).join(", ")}]`;
  const pairs = Object.entries(value).map(([key, inner]) => {
    const shown = doubleQuoted(key);
    const mark = shown.length > plainKeyUnitsMax ? "? " : "";
    return `${mark}${shown}: ${flowText(inner, floatKeys.has(key))}`;
  });
  return `{${pairs.join(", ")}}`;
}
