/** The session on screen, as palette and title need it, and the entry to compare with. */
import { signal } from "@preact/signals";
import type { SessionFacts } from "../api.ts";

interface OpenSession {
  readonly facts: SessionFacts;
  readonly showRow: (row: number) => void;
}

/** Null: the page shows something else. */
export const openSession = signal<OpenSession | null>(null);

interface MarkedEntry {
  readonly key: string;
  readonly row: number;
}

const marked = signal<MarkedEntry | null>(null);

export function markedRowOf(key: string): number | null {
  return marked.value?.key === key ? marked.value.row : null;
}

/** Marks an entry to compare another one with; a marked one is unmarked. */
export function toggleMark(key: string, row: number): void {
  marked.value = markedRowOf(key) === row ? null : { key, row };
}
