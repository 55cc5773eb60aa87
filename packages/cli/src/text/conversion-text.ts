/** The changes of a conversion to another dialect, as text. Pure. */
import type { ConversionResult } from "@branchlog/transfer";
import { countText, numberText } from "./quantities.ts";

/** The entries that changed, by their type; empty if none did. */
export function changedText(converted: ConversionResult["converted"]): string {
  const counts = Object.entries(converted).map(([type, count]) => `${type} ${numberText(count)}`);
  return counts.join(", ");
}

/** A line about an added entry for the name; empty if none was needed. */
export function addedNameText(addedName: boolean): string {
  return addedName ? "added an entry with the name\n" : "";
}

/** A line about resets, which pi does not know; empty if there are none. */
export function resetsText(resets: number): string {
  if (resets === 0) return "";
  return `pi does not know ${countText(resets, "reset")}: its model sees what came before\n`;
}
