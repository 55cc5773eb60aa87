/**
 * The engine of one session, until the session is closed. An engine has nothing to close; a session
 * that was closed must not be used by mistake all the same.
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
    const { path } = this.engine;
    const message = `The session ${path} was closed. Open it again.`;
    throw new BranchlogError("ERR_CLOSED", message, { path });
  }

  /** Refuses further use. */
  close(): void {
    this.#isClosed = true;
  }
}
