/** The current session of a manager, with signals of its changes and switches. */
import type { LeafCursor, ParentChoice, Engine } from "@branchlog/core/engine";
import type { Divergence } from "@branchlog/core/types";
import type { EntryDraft } from "@branchlog/core";
import { ChangeSignal } from "@branchlog/core/engine";
import type { ManagerState } from "./manager-state.ts";
import { appendToLog, nowMs } from "./session-log.ts";

/** Called with each appended entry that diverged. */
export type DivergedListener = (diverged: Divergence & { readonly id: string }) => void;

/** A throwing listener must not make a written entry look like a failed append. */
function tell(listener: DivergedListener, diverged: Parameters<DivergedListener>[0]): void {
  try {
    listener(diverged);
  } catch (error) {
    queueMicrotask(() => {
      throw error;
    });
  }
}

export class ManagerPosition {
  readonly changes: ChangeSignal = new ChangeSignal();
  readonly #divergedListeners = new Set<DivergedListener>();
  #state: ManagerState;
  #stopListening: () => void;

  constructor(state: ManagerState) {
    this.#state = state;
    this.#stopListening = this.#listen();
  }

  get state(): ManagerState {
    return this.#state;
  }

  get engine(): Engine {
    return this.#state.log.engine;
  }

  get leaf(): LeafCursor {
    return this.#state.log.leaf;
  }

  onDiverged(listener: DivergedListener): () => void {
    const own: DivergedListener = (diverged) => listener(diverged);
    this.#divergedListeners.add(own);
    return () => this.#divergedListeners.delete(own);
  }

  /** Keeps the log that then has the entry. Throws as {@link appendToLog}. */
  append(
    draft: EntryDraft,
    parent?: ParentChoice,
    timeMs: number = nowMs(this.#state.log),
  ): string {
    const { log, result } = appendToLog(this.#state.log, draft, timeMs, parent);
    if (log !== this.#state.log) this.go({ ...this.#state, log });
    const { id, diverged } = result;
    if (diverged !== undefined) {
      for (const listener of this.#divergedListeners) tell(listener, { id, ...diverged });
    }
    return id;
  }

  readonly isClosed = (): boolean => false;

  readonly reading = <T>(read: () => T): T => read();

  /** The leaf is pinned. */
  readonly onCaughtUp = (): void => undefined;

  go(state: ManagerState): ManagerState {
    this.#stopListening();
    this.#state = state;
    this.#stopListening = this.#listen();
    this.changes.notify();
    return state;
  }

  #listen(): () => void {
    return this.engine.changes.listen(this.changes.notify);
  }
}
