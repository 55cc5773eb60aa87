/** Serializes values of an SDK to text that restores them unchanged. */
import { BranchlogError } from "@branchlog/core";
import { reasonOf } from "@branchlog/core/files";

/**
 * As `JSON.stringify`. Throws `ERR_UNSERIALIZABLE` for values that JSON would change, except
 * undefined members, which are omitted.
 * @param what Begins the message.
 */
export function jsonText(value: object, what: string): string {
  try {
    return JSON.stringify(value, requireJson);
  } catch (cause) {
    throw unserializable(what, cause);
  }
}

const jsonTags: ReadonlySet<string> = new Set(
  ["Array", "Boolean", "Null", "Number", "Object", "String"].map((name) => `[object ${name}]`),
);

/** As replacer: throws for values that would be restored as something else. */
function requireJson(this: unknown, key: string, value: unknown): unknown {
  const given: unknown = Reflect.get(Object(this), key);
  // Others become null, are left out, or lose what they hold.
  const isJson =
    given === undefined
      ? !Array.isArray(this)
      : given === value && jsonTags.has(Object.prototype.toString.call(value));
  if (isJson && !(typeof value === "number" && !Number.isFinite(value))) return value;
  throw new TypeError(`${JSON.stringify(key)} is not a JSON value`);
}

export function unserializable(what: string, cause: unknown): BranchlogError {
  const message = `${what} cannot be written as JSON (${reasonOf(cause)}). Nothing was written.`;
  return new BranchlogError("ERR_UNSERIALIZABLE", message, { cause });
}
