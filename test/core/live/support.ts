/** Two sessions of one log in memory, whose files report no changes unless they are told to. */
import type { Observable } from "rxjs";
import { createSession, openSession } from "@branchlog/core";
import type { EntryDraft, Session } from "@branchlog/core";
import type { EntryEvent, Live } from "@branchlog/core/live";
import {
  ManualClock,
  MemoryFileSystem,
  MemoryHints,
  createMemoryPorts,
  createSeededIds,
  userDraft,
} from "@branchlog/core/testing";
import type { Ports } from "@branchlog/core/testing";

export const path = "/s.jsonl";

export class World {
  readonly fs = new MemoryFileSystem();
  readonly hints = new MemoryHints();
  readonly clock = new ManualClock(Date.UTC(2026, 0, 1));
  readonly ports: Ports = createMemoryPorts({
    fs: this.fs,
    hints: this.hints,
    clock: this.clock,
    ids: createSeededIds(1, this.clock),
  });

  create(): Promise<Session> {
    return createSession(path, { ports: this.ports, cwd: "/w", id: "s" });
  }

  open(access: "read" | "append" = "append", follow = true): Promise<Session> {
    return openSession(path, { ports: this.ports, access, follow });
  }

  /** What another process does becomes known. */
  async hint(): Promise<void> {
    this.hints.tell(path);
    await turns();
  }
}

/** A new log with a session that appends to it. */
export async function newWorld(): Promise<{ readonly world: World; readonly session: Session }> {
  const world = new World();
  return { world, session: await world.create() };
}

export { userDraft as say };

/** Time for everything that is under way in memory. */
export async function turns(count = 4): Promise<void> {
  for (let turn = 0; turn < count; turn += 1) await new Promise(setImmediate);
}

export interface Seen<T> {
  readonly items: T[];
  /** "complete", or an error. */
  readonly ends: unknown[];
  readonly unsubscribe: () => void;
}

/** What an observable emits, as it comes. */
export function seen<T>(observable: Observable<T>): Seen<T> {
  const items: T[] = [];
  const ends: unknown[] = [];
  const subscription = observable.subscribe({
    next: (item) => items.push(item),
    complete: () => ends.push("complete"),
    error: (error) => ends.push(error),
  });
  return { items, ends, unsubscribe: () => subscription.unsubscribe() };
}

export function values<T>({ items }: { readonly items: readonly Live<T>[] }): T[] {
  return items.map(({ value }) => value);
}

/** Entries of every kind that a session folds; some name another one. */
export const drafts: readonly ((target: string) => EntryDraft)[] = [
  () => userDraft("text"),
  () => ({ type: "model_change", provider: "p", modelId: "m" }),
  () => ({ type: "thinking_level_change", thinkingLevel: "high" }),
  (targetId) => ({ type: "label", targetId, label: "L" }),
  (targetId) => ({ type: "label", targetId }),
  () => ({ type: "session_info", name: "N" }),
  (firstKeptEntryId) => ({ type: "compaction", summary: "S", firstKeptEntryId, tokensBefore: 1 }),
  (targetId) => ({ type: "context_edit", targetId, replacement: null }),
];

/** The ids of entries, and the kinds of other events. */
export function idsOf(events: readonly EntryEvent[]): string[] {
  return events.map((event) => (event.kind === "entry" ? event.entry.id : event.kind));
}
