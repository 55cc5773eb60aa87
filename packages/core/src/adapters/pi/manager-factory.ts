/**
 * The constructors of session managers, with the files, lock, clock and ids of the caller's choice.
 */
import type { FileEntry } from "../../entries/entry-types.ts";
import type { NewSessionOptions } from "../../session/new-header.ts";

/** Makes managers of type `M`. */
export interface ManagerFactory<M> {
  /**
   * A new session. Its file appears with the first user or assistant message.
   * @param sessionDir Default: pi's directory for `cwd`. It is created at once.
   * @throws BranchlogError `ERR_INVALID_SESSION_ID`.
   */
  create(this: void, cwd: string, sessionDir?: string, options?: NewSessionOptions): M;
  /**
   * Opens a session file of any version, as it is. A missing file is a new session for that path;
   * an empty one gets its header, the only case in which opening writes.
   * @param sessionDir Where further sessions are created. Default: the directory of the file.
   * @param cwdOverride Replaces the working directory of the header.
   * @throws BranchlogError `ERR_NOT_A_SESSION`, `ERR_HEADER_DAMAGED`, `ERR_LOG_UNREADABLE`.
   */
  open(this: void, path: string, sessionDir?: string, cwdOverride?: string): M;
  /** Opens the session of `cwd` that changed last, or starts one. Throws as `open`. */
  continueRecent(this: void, cwd: string, sessionDir?: string): M;
  /** A session that never touches a disk: a new one, or that of records, copied at the call. */
  inMemory(
    this: void,
    cwd?: string,
    options?: NewSessionOptions,
    records?: readonly FileEntry[],
  ): M;
  /**
   * Copies a whole session file, of any version, for another working directory; opens the copy.
   * @throws BranchlogError if the source is not a session; `ERR_INVALID_SESSION_ID`,
   * `ERR_LOG_EXISTS`.
   */
  forkFrom(
    this: void,
    sourcePath: string,
    targetCwd: string,
    sessionDir?: string,
    options?: Pick<NewSessionOptions, "id">,
  ): M;
}
