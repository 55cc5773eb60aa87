/** Brings the fields of a caller's object into the order in which they are written. */

/**
 * A copy of the fields of `record`: first those named, whether it has them or not, then its other
 * own ones, save `omitted`. Runs getters of the caller.
 */
export function orderedFields(
  record: object,
  first: readonly string[],
  omitted?: string,
): Record<string, unknown> {
  const fields: Record<string, unknown> = {};
  for (const key of first) fields[key] = Reflect.get(record, key);
  for (const key of Object.keys(record)) {
    if (key === omitted || Object.hasOwn(fields, key)) continue;
    const value: unknown = Reflect.get(record, key);
    // A method has no JSON form; as a field of the copy this one would be called.
    if (key === "toJSON" && typeof value === "function") continue;
    if (key === "__proto__") defineOwn(fields, key, value);
    else fields[key] = value;
  }
  return fields;
}

/** Assigning `__proto__` would set the prototype, and the field would be lost. */
function defineOwn(fields: object, key: string, value: unknown): void {
  const traits = { value, enumerable: true, configurable: true, writable: true };
  Object.defineProperty(fields, key, traits);
}
