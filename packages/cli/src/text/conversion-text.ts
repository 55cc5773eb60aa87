/** What changed when a session was written in another agent's words, as people read it. Pure. */
import type { ConversionResult } from "@branchlog/core";
import { numberText } from "./quantities.ts";

/** The entries that changed, by their type; empty if none did. */
export function changedText(converted: ConversionResult["converted"]): string {
  const counts = Object.entries(converted).map(([type, count]) => `${type} ${numberText(count)}`);
  return counts.join(", ");
}

/** A line about an entry that holds the name; empty if none was needed. */
export function addedNameText(addedName: boolean): string {
  return addedName ? "added an entry with the name\n" : "";
}
