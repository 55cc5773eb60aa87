/** The current session of a manager, and a signal of its changes and of a change of session. */
import type { WatchedSession } from "../../session/watched-session.ts";
import { ChangeSignal } from "../../log/change-signal.ts";
import type { Engine } from "../../session/engine.ts";
import type { LeafCursor } from "../../append/leaf-cursor.ts";
import type { ManagerState } from "./manager-state.ts";

/** See the file comment. */
export class ManagerPosition implements WatchedSession {
  readonly changes: ChangeSignal = new ChangeSignal();
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

  /** There is nothing to close. */
  readonly isClosed = (): boolean => false;

  readonly reading = <T>(read: () => T): T => read();

  readonly refresh = (): void => this.engine.refreshSync();

  /** Makes it the current one. */
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
