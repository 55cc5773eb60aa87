/** pi's SessionManager on an engine: the same calls, results and error messages, synchronous. */
import { engineOptionNames, requireOptions } from "@branchlog/core/files";
import type { Usage, FileEntry, UsageEntry, UserContent } from "@branchlog/core/entries";
import type { SessionProjection } from "@branchlog/core/rows";
import type { SessionEntry, SessionContext } from "@branchlog/core";
import { normalizeName } from "@branchlog/core/entries";
import { watchedSession } from "@branchlog/core/engine";
import type { Engine, NewSessionOptions } from "@branchlog/core/engine";
import type { EngineOptions } from "@branchlog/core/types";
import { isDefaultSessionDir } from "./pi-directory.ts";
import * as drafts from "./checked-drafts.ts";
import { forkFile } from "./derived-session.ts";
import * as questions from "./log-queries.ts";
import { ManagerBase, parentChoice, positionOf } from "./manager-base.ts";
import type { ManagerPosition } from "./manager-position.ts";
import {
  continueRecentSession,
  createSession,
  openSession,
  openWhereItBelongs,
  startInMemory,
  startSession,
} from "./manager-state.ts";
import type { ManagerState } from "./manager-state.ts";
import { listAllSessions, listSessions } from "./session-directory.ts";
import { nameInSlot, nowMs } from "./session-log.ts";
import { findSessionById } from "./session-lookup.ts";
import type { SessionTreeNode } from "./tree-nodes.ts";

/** Makes managers of type `M`. */
export interface ManagerFactory<M> {
  /**
   * A new session. Its file appears with the first user or assistant message.
   *
   * @param sessionDir Default: pi's directory for `cwd`. Created at once.
   * @throws BranchlogError `ERR_INVALID_SESSION_ID`.
   */
  create(this: void, cwd: string, sessionDir?: string, options?: NewSessionOptions): M;
  /**
   * Opens a session file of any version, unchanged. A missing file is a new session for that path;
   * an empty one gets its header, the only write of opening.
   *
   * @param sessionDir For further sessions. Default: the directory of the file.
   * @param cwdOverride Replaces the working directory of the header.
   * @throws BranchlogError `ERR_NOT_A_SESSION`, `ERR_HEADER_DAMAGED`, `ERR_LOG_UNREADABLE`.
   */
  open(this: void, path: string, sessionDir?: string, cwdOverride?: string): M;
  /** Opens the session of `cwd` that changed last, or starts one. Throws as `open`. */
  continueRecent(this: void, cwd: string, sessionDir?: string): M;
  /** A session that never touches a disk: new, or with a copy of the given records. */
  inMemory(
    this: void,
    cwd?: string,
    options?: NewSessionOptions,
    records?: readonly FileEntry[],
  ): M;
  /**
   * Copies a whole session file, of any version, for another working directory; opens the copy.
   *
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

let newManager: (state: ManagerState) => SessionManager;

/** With files, lock, clock and ids of the caller. */
export function managersWith(given: EngineOptions): ManagerFactory<SessionManager> {
  const checked = requireOptions(given, engineOptionNames);
  const options = { newSessionDialect: "pi", ...checked } as const;
  return {
    create: (...args) => newManager(createSession(options, ...args)),
    open: (...args) => newManager(openWhereItBelongs(options, ...args)),
    continueRecent: (...args) => newManager(continueRecentSession(options, ...args)),
    inMemory: (...args) => newManager(startInMemory(options, ...args)),
    forkFrom: (...args) => newManager(forkFile(options, ...args)),
  };
}

/** Another one after a switch of session. */
export function engineOf(manager: SessionManager): Engine {
  return watchedSession(manager).engine;
}

const defaults = managersWith({});

/** Made by its static methods; needs no close. */
export class SessionManager extends ManagerBase {
  /** A new session; see {@link ManagerFactory.create}. */
  static readonly create: ManagerFactory<SessionManager>["create"] = defaults.create;
  /** Opens a session file; see {@link ManagerFactory.open}. */
  static readonly open: ManagerFactory<SessionManager>["open"] = defaults.open;
  /** The latest session; see {@link ManagerFactory.continueRecent}. */
  static readonly continueRecent: ManagerFactory<SessionManager>["continueRecent"] =
    defaults.continueRecent;
  /** A session without a file; see {@link ManagerFactory.inMemory}. */
  static readonly inMemory: ManagerFactory<SessionManager>["inMemory"] = defaults.inMemory;
  /** A copy of a session file; see {@link ManagerFactory.forkFrom}. */
  static readonly forkFrom: ManagerFactory<SessionManager>["forkFrom"] = defaults.forkFrom;
  /** The sessions of a working directory, latest change first. */
  static readonly list: typeof listSessions = listSessions;
  /** The sessions of all working directories, latest change first. */
  static readonly listAll: typeof listAllSessions = listAllSessions;
  /** The file of the session with an id, or undefined. */
  static readonly findById: typeof findSessionById = findSessionById;

  static {
    newManager = (state) => new SessionManager(state);
  }

  private constructor(state: ManagerState) {
    super(state);
  }

  get #position(): ManagerPosition {
    return positionOf(this);
  }

  get #state(): ManagerState {
    return this.#position.state;
  }

  /** Switches to another file; throws as `open`, then without a switch. */
  setSessionFile(path: string): void {
    this.#position.go(openSession(this.#state, path));
  }

  /** Switches to a new session, not yet on disk. Returns the path of its file. */
  newSession(options?: NewSessionOptions): string | undefined {
    return this.#position.go(startSession(this.#state, options)).file;
  }

  /** Whether it is pi's default directory for the working directory. */
  usesDefaultSessionDir(): boolean {
    const { cwd, isPersisted, sessionDir } = this.#state;
    return isPersisted && isDefaultSessionDir(sessionDir, cwd);
  }
  /** Without entries hidden by another one of the same id. */
  getEntryCount(): number {
    return questions.entryCount(this.#state.log.engine);
  }

  /** With labels; children by time. */
  getTree(): SessionTreeNode[] {
    return questions.treeOf(this.#state.log.engine);
  }

  /** The context of the model at the leaf. */
  buildSessionContext(): SessionContext {
    return questions.contextOf(this.#state.log);
  }

  /** The entries of the context, in order. */
  buildContextEntries(): SessionEntry[] {
    return questions.contextEntriesOf(this.#state.log);
  }

  /** The context with its entries. */
  buildSessionProjection(): SessionProjection {
    return questions.projectionOf(this.#state.log);
  }

  /** Appends a summary of the branch that is left, below an entry or as a root; returns its id. */
  branchWithSummary(
    branchFromId: string | null,
    summary: string,
    details?: unknown,
    fromHook?: boolean,
    usage?: Usage,
  ): string {
    const fields = { summary, details, usage, fromHook };
    const draft = drafts.branchSummary(this.#state.log, branchFromId, fields);
    return this.#position.append(draft, parentChoice(branchFromId));
  }

  /** Records a change of the thinking level. */
  appendThinkingLevelChange(thinkingLevel: string): string {
    return this.#position.append({ type: "thinking_level_change", thinkingLevel });
  }
  /** Records a change of the model. */
  appendModelChange(provider: string, modelId: string): string {
    return this.#position.append({ type: "model_change", provider, modelId });
  }

  /** Appends a cost outside the conversation; returns the entry. */
  appendUsage(
    kind: string,
    provider: string,
    model: string,
    usage: Usage,
    note?: string,
  ): UsageEntry {
    // As in pi, an empty note is dropped.
    const fields = { kind, provider, model, usage, ...(note ? { note } : {}) };
    const id = this.#position.append({ type: "usage", ...fields });
    const { engine } = this.#state.log;
    const entry = engine.entrySync(id);
    if (entry?.type === "usage") return entry;
    throw new Error(`${engine.path} lost the entry ${id} right after it was appended`);
  }

  /** Appends a summary of the earlier entries; null keeps none of them. */
  // oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- as in pi
  appendCompaction<T = unknown>(
    summary: string,
    firstKeptEntryId: string | null,
    tokensBefore: number,
    details?: T,
    fromHook?: boolean,
    usage?: Usage,
  ): string {
    const time = nowMs(this.#state.log);
    const fields = { summary, firstKeptEntryId, tokensBefore, details, usage, fromHook };
    const draft = drafts.compaction(this.#state.log, time, fields);
    return this.#position.append(draft, undefined, time);
  }

  /** Appends a message of an extension, which the model sees. */
  // oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- as in pi
  appendCustomMessageEntry<T = unknown>(
    customType: string,
    content: string | readonly UserContent[],
    display: boolean,
    details?: T,
  ): string {
    return this.#position.append({ type: "custom_message", customType, content, display, details });
  }

  /** Names the session; an empty name clears it. */
  appendSessionInfo(name: string): string {
    // First, so that a name that does not fit there leaves nothing in the log.
    nameInSlot(this.#state.log, name);
    return this.#position.append({ type: "session_info", name: normalizeName(name) });
  }

  /**
   * Changes what the model sees of an entry of the active branch; null hides it.
   *
   * @throws BranchlogError `ERR_INVALID_ARGUMENT`, `ERR_ENTRY_NOT_FOUND`.
   */
  appendContextEdit(targetId: string, replacement: drafts.ContextEditDraft["replacement"]): string {
    return this.#position.append(drafts.contextEdit(this.#state.log, targetId, replacement));
  }
}

/** The reading part of a {@link SessionManager}, as extensions of pi get it. */
export type ReadonlySessionManager = Pick<
  SessionManager,
  | "getCwd"
  | "getSessionDir"
  | "getSessionId"
  | "getSessionFile"
  | "getLeafId"
  | "getLeafEntry"
  | "getEntry"
  | "getLabel"
  | "getBranch"
  | "getHeader"
  | "getEntries"
  | "getTree"
  | "getSessionName"
  | "buildContextEntries"
  | "buildSessionProjection"
>;
