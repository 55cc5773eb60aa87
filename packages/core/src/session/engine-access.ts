/**
 * The engine of one session, until the session is closed: after that only what is watched is read,
 * a last time.
 */
import { BranchlogError } from "../errors.ts";
import type { Engine } from "./engine.ts";

/** See the file comment. */
export class EngineAccess {
  /** For what may be looked at after the closing, too. */
  readonly engine: Engine;
  #isClosed = false;

  constructor(engine: Engine) {
    this.engine = engine;
  }

  /**
   * The engine, for use.
   * @throws BranchlogError `ERR_CLOSED`.
   */
  open(): Engine {
    if (!this.#isClosed) return this.engine;
    throw sessionClosed(this.engine.path);
  }

  /** Answers all the same while `read` runs: what is watched is read a last time at the end. */
  reading<T>(read: () => T): T {
    const wasClosed = this.#isClosed;
    this.#isClosed = false;
    try {
      return read();
    } finally {
      this.#isClosed = wasClosed;
    }
  }

  /** Refuses further use. */
  close(): void {
    this.#isClosed = true;
  }
}

/** What is said to who uses a session that was closed. */
export function sessionClosed(path: string): BranchlogError {
  const message = `The session ${path} was closed. Open it again.`;
  return new BranchlogError("ERR_CLOSED", message, { path });
}
