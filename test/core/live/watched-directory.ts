/** A subscriber to the sessions of a directory, that can wait for what it is told. */
import { expect } from "vitest";
import { sessions$ } from "@branchlog/library/live";
import type { LiveSessions, LiveSessionsOptions } from "@branchlog/library/live";

/** What is emitted, and a way to wait for an emission. */
export class Watching {
  readonly emissions: LiveSessions[] = [];
  readonly #wakes = new Set<() => void>();
  readonly #subscription: { unsubscribe(): void };

  constructor(directory: string, options: LiveSessionsOptions = {}) {
    this.#subscription = sessions$(directory, options).subscribe((emission) => {
      this.emissions.push(emission);
      for (const wake of this.#wakes) wake();
    });
  }

  /** The list once it is as wanted; the test ends with the time of the suite if it never is. */
  async until(isWanted: (list: LiveSessions) => boolean): Promise<LiveSessions> {
    for (;;) {
      const last = this.emissions.at(-1);
      if (last?.status.kind !== "catching-up" && last !== undefined && isWanted(last)) return last;
      await new Promise<void>((resolve) => {
        const wake = (): void => {
          this.#wakes.delete(wake);
          resolve();
        };
        this.#wakes.add(wake);
      });
    }
  }

  /** What a reader has that only applied the differences. */
  replayed(): Map<string, unknown> {
    const known = new Map<string, unknown>();
    for (const { added, changed, removed } of this.emissions) {
      for (const session of removed) expect(known.delete(session.path)).toBe(true);
      for (const session of added) {
        expect(known.has(session.path)).toBe(false);
        known.set(session.path, session);
      }
      for (const session of changed) {
        expect(known.has(session.path)).toBe(true);
        known.set(session.path, session);
      }
    }
    return known;
  }

  end(): void {
    this.#subscription.unsubscribe();
  }
}
