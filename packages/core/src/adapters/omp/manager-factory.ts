/**
 * The constructors of session managers of omp, with the files, lock, clock and ids of the caller's
 * choice. As in omp, opening a file is asynchronous.
 */
import type { EngineOptions } from "../../log/engine-options.ts";
import { forkFile } from "../pi/derived-session.ts";
import type { FaceOptions } from "../pi/existing-file.ts";
import {
  createSession,
  filePlace,
  openSession,
  openWhereItBelongs,
  startInMemory,
  startSession,
} from "../pi/manager-state.ts";
import type { ManagerState } from "../pi/manager-state.ts";
import { mostRecentSession, sessionDirFor } from "./session-list.ts";

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

export function managerFactory<M>(
  given: EngineOptions,
  make: (state: ManagerState) => M,
): ManagerFactory<M> {
  const options: FaceOptions = { newSessionDialect: "omp", ...given };
  return {
    create: (cwd, sessionDir) => make(createSession(options, cwd, sessionDirFor(cwd, sessionDir))),
    open: async (path, sessionDir) => make(openWhereItBelongs(options, path, sessionDir)),
    continueRecent: async (cwd, sessionDir) => {
      const place = filePlace(cwd, sessionDirFor(cwd, sessionDir), options);
      const recent = mostRecentSession(cwd, sessionDir);
      return make(recent === null ? startSession(place) : openSession(place, recent));
    },
    inMemory: (cwd) => make(startInMemory(options, cwd)),
    forkFrom: async (sourcePath, cwd, sessionDir) =>
      make(forkFile(options, sourcePath, cwd, sessionDirFor(cwd, sessionDir))),
  };
}
