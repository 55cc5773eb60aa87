/**
 * Where the next answer starts, as an opaque text. It holds the position itself, so that it
 * outlives the server; paths are in it as digests. Pure.
 */
import { createHash } from "node:crypto";
import { ToolError } from "./tool-error.ts";

export type CursorValue = string | number;

/** @param owner What it is a position in; a cursor is valid for the same one only. */
export function cursorOf(owner: string, values: readonly CursorValue[]): string {
  return Buffer.from(JSON.stringify([digestOf(owner), ...values])).toString("base64url");
}

/**
 * The values of a cursor.
 * @throws ToolError for one that was not made for this owner.
 */
export function cursorValues(owner: string, cursor: string): readonly CursorValue[] {
  const [first, ...values] = listIn(cursor);
  if (first === digestOf(owner)) return values;
  throw new ToolError(
    "This cursor belongs to another request. Repeat the arguments of that request, or omit the " +
      "cursor to start again.",
  );
}

export function textAt(values: readonly CursorValue[], place: number): string {
  return String(values[place] ?? "");
}

/** Not negative. */
export function numberAt(values: readonly CursorValue[], place: number): number {
  const value = Number(values[place]);
  return Number.isFinite(value) && value > 0 ? value : 0;
}

function listIn(cursor: string): readonly CursorValue[] {
  try {
    const value: unknown = JSON.parse(Buffer.from(cursor, "base64url").toString());
    return Array.isArray(value) ? value.filter(isCursorValue) : [];
  } catch {
    return [];
  }
}

function isCursorValue(value: unknown): value is CursorValue {
  return typeof value === "string" || typeof value === "number";
}

function digestOf(owner: string): string {
  return createHash("sha256").update(owner).digest("base64url").slice(0, 12);
}
