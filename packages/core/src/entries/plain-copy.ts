/** Copies of values that JSON preserves, so that written entries need not be parsed. */
import type { JsonObject, JsonValue } from "@branchlog/streaming";

/** Deeper values are parsed. */
const depthMax = 32;

/**
 * A deep copy equal to what `JSON.parse(JSON.stringify(value))` returns, member order included;
 * undefined if anything in it would be written differently. Getters of the caller run once: the
 * copy, not the value, is what is then written. A `toJSON` is not called.
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
      if (depth >= depthMax || Reflect.get(value, "toJSON") !== undefined) return undefined;
      return Array.isArray(value) ? listCopy(value, depth + 1) : membersCopy(value, depth + 1);
    default:
      return undefined;
  }
}

function listCopy(list: readonly unknown[], depth: number): JsonValue[] | undefined {
  const copy: JsonValue[] = [];
  for (let at = 0; at < list.length; at += 1) {
    const element = copyOf(list[at], depth);
    if (element === undefined) return undefined;
    copy.push(element);
  }
  return copy;
}

function membersCopy(members: object, depth: number): JsonObject | undefined {
  const prototype: unknown = Object.getPrototypeOf(members);
  if (prototype !== Object.prototype && prototype !== null) return undefined;
  // Spreading makes objects of one shape, and is several times as fast as member by member.
  const copy: Record<string, unknown> = { ...members };
  let hasAbsent = false;
  for (const key of Object.keys(copy)) {
    const value = copy[key];
    const member = copyOf(value, depth);
    if (member === undefined && value !== undefined) return undefined;
    if (member === undefined) hasAbsent = true;
    else if (member !== value) copy[key] = member;
  }
  return hasAbsent ? presentMembers(copy) : asJson(copy);
}

/** JSON leaves out members that are undefined. */
function presentMembers(members: Record<string, unknown>): JsonObject {
  return asJson(Object.fromEntries(Object.entries(members).filter(([, one]) => one !== undefined)));
}

function asJson(members: Record<string, unknown>): JsonObject {
  // Every member was checked to be a JSON value.
  return members as JsonObject;
}
