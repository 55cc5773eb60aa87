/** Fields of stored values, checked: a foreign file may not match the types. Pure; never throws. */

/** An own field. */
export function fieldOf(value: unknown, key: string): unknown {
  if (typeof value !== "object" || value === null || !Object.hasOwn(value, key)) return undefined;
  const field: unknown = Reflect.get(value, key);
  return field;
}

export function stringOf(value: unknown, key: string): string | undefined {
  const field = fieldOf(value, key);
  return typeof field === "string" ? field : undefined;
}

export function numberOf(value: unknown, key: string): number {
  const field = fieldOf(value, key);
  return typeof field === "number" ? field : 0;
}

/** Deeper, only the place of a value is shown: recursion is bounded without a limit of units. */
const levelsMax = 500;

/** Slightly more than `unitsMax` UTF-16 units; no more is built. */
export function jsonStart(value: unknown, unitsMax: number, level: number = 0): string {
  if (typeof value === "string") return JSON.stringify(value.slice(0, unitsMax));
  if (typeof value !== "object" || value === null) return JSON.stringify(value) ?? "";
  const isList = Array.isArray(value);
  let text = isList ? "[" : "{";
  for (const [key, field] of Object.entries(value)) {
    if (text.length > unitsMax) return text;
    if (text.length > 1) text += ",";
    if (!isList) text += `${JSON.stringify(key)}:`;
    text += level === levelsMax ? "…" : jsonStart(field, unitsMax - text.length, level + 1);
  }
  return `${text}${isList ? "]" : "}"}`;
}
