/**
 * Checks of values whose types promise more than a foreign file keeps: entries are returned as
 * stored, so projections check a field before they use it. Pure, never throws.
 */

/** Not null, not an array. */
export function isStoredObject(value: unknown): value is object {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Empty for anything else. */
export function storedList(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** 0 for anything else, NaN and infinities included. */
export function storedNumber(value: unknown): number {
  return typeof value === "number" && Number.isFinite(value) ? value : 0;
}

/** A string as it is, text blocks joined by `separator`, `""` for the rest. */
export function storedText(content: unknown, separator: string): string {
  if (typeof content === "string") return content;
  const texts: string[] = [];
  for (const block of storedList(content)) {
    if (!isStoredObject(block) || !("type" in block) || block.type !== "text") continue;
    if ("text" in block && typeof block.text === "string") texts.push(block.text);
  }
  return texts.join(separator);
}

/** In epoch ms; NaN if unreadable. */
export function storedTimeMs(timestamp: unknown): number {
  if (typeof timestamp !== "string" && typeof timestamp !== "number") return Number.NaN;
  return new Date(timestamp).getTime();
}
