/** Copies of values that JSON keeps as they are, so that what was written need not be parsed. */
import type { JsonObject, JsonValue } from "@branchlog/streaming";
import { types } from "node:util";

/** Deeper values are parsed. */
const depthMax = 32;

/**
 * A deep copy equal to what `JSON.parse(JSON.stringify(value))` returns, member order included;
 * undefined if anything in it is not plain: it would be written differently, or runs code of the
 * caller.
 */
export function plainObjectCopy(value: object): JsonObject | undefined {
  const copy = copyOf(value, 0);
  return typeof copy === "object" && copy !== null && !Array.isArray(copy) ? copy : undefined;
}

function copyOf(value: unknown, depth: number): JsonValue | undefined {
  switch (typeof value) {
    case "string":
    case "boolean":
      return value;
    case "number":
      return Number.isFinite(value) && !Object.is(value, -0) ? value : undefined;
    case "object":
      if (value === null) return null;
      if (depth >= depthMax || types.isProxy(value) || "toJSON" in value) return undefined;
      return Array.isArray(value) ? listCopy(value, depth + 1) : membersCopy(value, depth + 1);
    default:
      return undefined;
  }
}

function listCopy(list: readonly unknown[], depth: number): JsonValue[] | undefined {
  const copy: JsonValue[] = [];
  for (let at = 0; at < list.length; at += 1) {
    const found = Object.getOwnPropertyDescriptor(list, at);
    const element = found === undefined ? undefined : copyOf(found.value, depth);
    if (element === undefined) return undefined;
    copy.push(element);
  }
  return copy;
}

function membersCopy(members: object, depth: number): JsonObject | undefined {
  const prototype: unknown = Object.getPrototypeOf(members);
  if (prototype !== Object.prototype && prototype !== null) return undefined;
  const copy: JsonObject = {};
  for (const key of Object.keys(members)) {
    const found = Object.getOwnPropertyDescriptor(members, key);
    if (found === undefined || found.get !== undefined || key === "__proto__") return undefined;
    // JSON leaves it out.
    if (found.value === undefined) continue;
    const member = copyOf(found.value, depth);
    if (member === undefined) return undefined;
    copy[key] = member;
  }
  return copy;
}
