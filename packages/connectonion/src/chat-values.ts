/** Questions about the values of chat messages and stored blocks. Pure; no answer throws. */
import type { JsonObject, JsonValue } from "@branchlog/streaming";
import { isObject } from "./read-document.ts";

/** The object that a JSON text holds; undefined if it holds none. */
export function parsedObject(text: string): JsonObject | undefined {
  try {
    const parsed: unknown = JSON.parse(text);
    return isObject(parsed) ? parsed : undefined;
  } catch {
    return undefined;
  }
}

/** Whether an object says something under a key. */
export function hasKey(object: JsonObject, key: string): boolean {
  return object[key] !== undefined;
}

/** A text; empty for everything else. */
export function textOf(value: JsonValue | undefined): string {
  return typeof value === "string" ? value : "";
}
