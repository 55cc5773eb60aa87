/** Sessions that begin as a copy of a branch of the current session, or of a whole file. */
import { branchTo, newHeader, wholeLines } from "@branchlog/core/engine";
import type { Engine, NewSessionOptions } from "@branchlog/core/engine";
import { BranchlogError, isBranchlogError } from "@branchlog/core";
import type { ErrorCode } from "@branchlog/core";
import { engineSettings, inLargeChunks } from "@branchlog/core/files";
import type { EngineOptions } from "@branchlog/core/types";
import { requireRow } from "./checked-drafts.ts";
import type { FaceOptions } from "./existing-file.ts";
import { filePlace } from "./manager-state.ts";
import type { ManagerState } from "./manager-state.ts";
import { draftLog, fileLog, memoryLog } from "./session-log.ts";
import { createSessionLog, newSessionPath, openEngine, resolvedSession } from "./session-places.ts";

/**
 * The branch to an entry: a file if it has an answer, else a draft; in memory if the current
 * session is.
 *
 * @throws BranchlogError `ERR_ENTRY_NOT_FOUND`, `ERR_LOG_EXISTS`.
 */
export function branchOff(state: ManagerState, leafId: string | undefined): ManagerState {
  const { engine, leaf } = state.log;
  // As everywhere in pi, no id means the leaf; before the first entry there is no branch.
  const branch = branchTo(engine, requireRow(engine, leafId ?? leaf.id ?? leafId));
  const { ports } = engineSettings(state.options);
  const parentSession = state.isPersisted ? state.file : undefined;
  const { dialect, header: copied } = engine;
  const header = newHeader(ports, state.cwd, { parentSession, dialect, copied });
  const chunks = inLargeChunks(branch.lines(header));
  if (!state.isPersisted) return { ...state, log: memoryLog(chunks, state.options) };
  const file = newSessionPath(state.sessionDir, header);
  if (!branch.isConversation) return { ...state, file, log: draftLog(file, chunks, state.options) };
  createSessionLog(file, chunks, state.options);
  return { ...state, file, log: fileLog(file, state.options) };
}

/**
 * A whole file, of any version, for another working directory.
 *
 * @throws BranchlogError as `openForkSource`; `ERR_INVALID_SESSION_ID`, `ERR_LOG_EXISTS`.
 */
export function forkFile(
  options: FaceOptions,
  sourcePath: string,
  targetCwd: string,
  sessionDir?: string,
  { id }: Pick<NewSessionOptions, "id"> = {},
): ManagerState {
  const parentSession = resolvedSession(sourcePath);
  const source = openForkSource(parentSession, options);
  const place = filePlace(targetCwd, sessionDir, options);
  const { ports } = source.settings;
  const { dialect, header: copied } = source;
  const header = newHeader(ports, place.cwd, { id, parentSession, dialect, copied });
  const file = newSessionPath(place.sessionDir, header);
  createSessionLog(file, inLargeChunks(wholeLines(source, header)), options);
  return { ...place, file, log: fileLog(file, options) };
}

const notForkable: ReadonlySet<ErrorCode> = new Set([
  "ERR_LOG_MISSING",
  "ERR_LOG_EMPTY",
  "ERR_NOT_A_SESSION",
  "ERR_HEADER_DAMAGED",
]);

/** @throws BranchlogError with pi's message if it is not a session. */
function openForkSource(path: string, options: EngineOptions): Engine {
  try {
    return openEngine(path, { ...options, access: "read" });
  } catch (error) {
    if (!isBranchlogError(error) || !notForkable.has(error.code)) throw error;
    const message = `Cannot fork: source session file is empty or invalid: ${path}`;
    throw new BranchlogError(error.code, message, { path, cause: error });
  }
}
