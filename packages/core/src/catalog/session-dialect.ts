/**
 * Which agent wrote a session, as far as a list can tell without reading all of it: omp leaves
 * traces in the header, before it and in some types of entries; a session without them is pi's.
 * Pure.
 */
import type { JsonObject } from "@branchlog/streaming";

/** The agents whose session files are JSON lines. co-mono writes what pi does. */
export type SessionDialect = "pi" | "omp";

/** The types of entries that only omp writes. */
export const ompTypes: readonly string[] = [
  "title_change",
  "ttsr_injection",
  "session_init",
  "mode_change",
  "service_tier_change",
  "credential_pin",
  "model_usage",
  "reset_boundary",
  "archive",
];

/** Whether only omp writes such an entry: one of its types, or a model in its form. */
export function isOmpEntry({ type, model }: JsonObject): boolean {
  if (type === "model_change") return typeof model === "string";
  return typeof type === "string" && ompTypes.includes(type);
}

/** Whether only omp writes such a header. */
export function isOmpHeader(header: object): boolean {
  return "title" in header;
}

/** What a session is called in the places that can say it. */
export interface SessionNames {
  /** By the title slot, "" if that is empty; null without a slot. */
  readonly slot: string | null;
  /** By the latest entry that names it, "" if that took the name away; null if none does. */
  readonly entry: string | null;
}

/** The name in force: the slot's, else the latest entry's, else that of the header. */
export function nameInForce(header: object, { slot, entry }: SessionNames): string | undefined {
  if (slot) return slot;
  if (entry !== null) return entry || undefined;
  // A slot that is empty overrules the header.
  const title: unknown = slot === null && "title" in header ? header.title : undefined;
  return typeof title === "string" ? title.trim() || undefined : undefined;
}
