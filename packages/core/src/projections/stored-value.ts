/**
 * Checks of values whose types promise more than a foreign file keeps: entries are returned
 * as stored, so projections ask before they use a field. Pure; no answer throws.
 */

/** Whether a stored value is a JSON object: not null, not an array. */
export function isStoredObject(value: unknown): value is object {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The elements of a stored list; nothing for anything else. */
export function storedList(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** A stored number; 0 for anything else, NaN and infinities included. */
export function storedNumber(value: unknown): number {
  return typeof value === "number" && Number.isFinite(value) ? value : 0;
}

/** The text of content: a string as it is, text blocks joined by `separator`, `""` for the rest. */
export function storedText(content: unknown, separator: string): string {
  if (typeof content === "string") return content;
  const texts: string[] = [];
  for (const block of storedList(content)) {
    if (!isStoredObject(block) || !("type" in block) || block.type !== "text") continue;
    if ("text" in block && typeof block.text === "string") texts.push(block.text);
  }
  return texts.join(separator);
}

/** The time that an entry carries, in epoch ms; NaN if it cannot be read. */
export function storedTimeMs(timestamp: unknown): number {
  if (typeof timestamp !== "string" && typeof timestamp !== "number") return Number.NaN;
  return new Date(timestamp).getTime();
}
