/** What a log must look like after a benchmark appended to it: every entry whole, in one chain. */
import { deepStrictEqual } from "node:assert";
import type { InputSpec, Scale } from "./bench-case.ts";
import { readPlainly } from "./plain-reader.ts";

/** The log that a subject wrote. */
export interface AppendedLog {
  readonly path: string;
  readonly appended: number;
}

/** How many entries are appended. */
export const appendCounts: Readonly<Record<Scale, number>> = { full: 20_000, quick: 2_000 };

/** Appending starts with a log of its own. */
export const noInput: () => InputSpec | null = () => null;

/** A message of the usual size of a short one, about 200 bytes as an entry. */
export function smallMessage(i: number): {
  readonly role: "user";
  readonly content: string;
  readonly timestamp: number;
} {
  return { role: "user", content: `Please look at file number ${i} next.`, timestamp: i };
}

/** Throws unless the log holds exactly the entries appended, each the child of the one before. */
export function checkAppended({ path, appended }: AppendedLog): void {
  const { entries } = readPlainly(path);
  deepStrictEqual(entries.length, appended);
  let parentId: string | null = null;
  for (const entry of entries) {
    deepStrictEqual(entry.parentId, parentId);
    parentId = entry.id;
  }
}

/** Appends per second. */
export function appendFigures(
  { appended }: AppendedLog,
  wallMs: number,
): Readonly<Record<string, number>> {
  return { "appends/s": (appended * 1000) / wallMs };
}
