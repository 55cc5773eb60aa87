/**
 * The constructors of session managers of omp, with the files, lock, clock and ids of the caller's
 * choice. As in omp, opening a file is asynchronous.
 */

/** Makes managers of type `M`. */
export interface ManagerFactory<M> {
  /**
   * A new session. Its file appears with the first user or assistant message.
   * @param sessionDir Default: omp's directory for `cwd`. It is created at once.
   */
  create(this: void, cwd: string, sessionDir?: string): M;
  /**
   * Opens a session file of any version, as it is. A missing file is a new session for that path;
   * an empty one gets its header, the only case in which opening writes.
   * @param sessionDir Where further sessions are created. Default: the directory of the file.
   * @throws BranchlogError `ERR_NOT_A_SESSION`, `ERR_HEADER_DAMAGED`, `ERR_LOG_UNREADABLE`.
   */
  open(this: void, path: string, sessionDir?: string): Promise<M>;
  /** Opens the session of `cwd` that changed last, or starts one. Throws as `open`. */
  continueRecent(this: void, cwd: string, sessionDir?: string): Promise<M>;
  /** A session that never touches a disk. */
  inMemory(this: void, cwd?: string): M;
  /**
   * Copies a whole session file, of any version, for another working directory; opens the copy.
   * @throws BranchlogError if the source is missing or no session; nothing is created then.
   */
  forkFrom(this: void, sourcePath: string, cwd: string, sessionDir?: string): Promise<M>;
}
