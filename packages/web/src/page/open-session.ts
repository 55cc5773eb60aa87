/** The session on screen, as palette and title need it. */
import { signal } from "@preact/signals";
import type { SessionFacts } from "../api.ts";

interface OpenSession {
  readonly facts: SessionFacts;
  readonly showRow: (row: number) => void;
}

/** Null: the page shows something else. */
export const openSession = signal<OpenSession | null>(null);
