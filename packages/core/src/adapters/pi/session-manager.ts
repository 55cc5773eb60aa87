/**
 * pi's SessionManager over an engine: the same calls, results and error texts, synchronous. It only
 * translates; what it knows is in its state, what it does in the engine. Entries come as plain
 * objects whose bodies are read at the first use; nothing done to them changes the log.
 */
import { engineOptionNames } from "../../log/engine-options.ts";
import { requireOptions } from "../../argument-checks.ts";
import type { AgentMessage, Usage, UserContent } from "../../entries/message-types.ts";
import type { ContextEditDraft, KnownDraft } from "../../entries/entry-draft.ts";
import type { SessionEntry, SessionHeader, UsageEntry } from "../../entries/entry-types.ts";
import { normalizeName } from "../../entries/identifiers.ts";
import type { Diagnostic } from "../../index-table/diagnostics.ts";
import type { SessionContext, SessionProjection } from "../../projections/context.ts";
import { makeWatchable, watchedSession } from "../../session/watched-session.ts";
import type { ParentChoice } from "../../append/request.ts";
import type { Engine } from "../../session/engine.ts";
import type { EngineOptions } from "../../log/engine-options.ts";
import { isDefaultSessionDir } from "./agent-directory.ts";
import * as drafts from "./checked-drafts.ts";
import { branchOff } from "./derived-session.ts";
import { contextEntriesOf, contextOf, projectionOf } from "./log-queries.ts";
import * as questions from "./log-queries.ts";
import { managerFactory } from "./manager-factory.ts";
import type { ManagerFactory } from "./manager-factory.ts";
import { ManagerPosition } from "./manager-position.ts";
import type { DivergedListener } from "./manager-position.ts";
import { openSession, startSession } from "./manager-state.ts";
import type { ManagerState } from "./manager-state.ts";
import type { NewSessionOptions } from "../../session/new-header.ts";
import { listAllSessions, listSessions } from "./session-directory.ts";
import { nameInSlot, nowMs } from "./session-log.ts";
import { findSessionById } from "./session-lookup.ts";
import type { SessionTreeNode } from "./tree-nodes.ts";

let newManager: (state: ManagerState) => SessionManager;

/** The static constructors, with ports and limits of the caller's choice. */
export function managersWith(options: EngineOptions): ManagerFactory<SessionManager> {
  return managerFactory(
    { newSessionDialect: "pi", ...requireOptions(options, engineOptionNames) },
    (state) => newManager(state),
  );
}

/** The current engine of a manager; another one after a change of session. */
export function engineOf(manager: SessionManager): Engine {
  return watchedSession(manager).engine;
}

const defaults = managersWith({});

/** See the file comment. Made by its static methods; there is nothing to close. */
export class SessionManager {
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

  readonly #position: ManagerPosition;

  static {
    newManager = (state) => new SessionManager(state);
  }

  private constructor(state: ManagerState) {
    this.#position = new ManagerPosition(state);
    makeWatchable(this, this.#position);
  }

  get #state(): ManagerState {
    return this.#position.state;
  }

  /** Goes to another file; throws as `open`, and stays where it was then. */
  setSessionFile(path: string): void {
    this.#position.go(openSession(this.#state, path));
  }

  /** Goes to a new session, of which nothing is on disk yet. Returns the path of its file. */
  newSession(options?: NewSessionOptions): string | undefined {
    return this.#position.go(startSession(this.#state, options)).file;
  }

  /** Goes to a new session that holds the branch to an entry. Returns the path of its file. */
  createBranchedSession(leafId: string): string | undefined {
    const { isPersisted, file } = this.#position.go(branchOff(this.#state, leafId));
    return isPersisted ? file : undefined;
  }

  /** Whether the session is kept in a file, now or from the first answer on. */
  isPersisted(): boolean {
    return this.#state.isPersisted;
  }
  /** The working directory of the session. */
  getCwd(): string {
    return this.#state.cwd;
  }
  /** Where new sessions are kept; "" for sessions in memory. */
  getSessionDir(): string {
    return this.#state.sessionDir;
  }
  /** Whether that is the directory that pi keeps for the working directory. */
  usesDefaultSessionDir(): boolean {
    const { cwd, isPersisted, sessionDir } = this.#state;
    return isPersisted && isDefaultSessionDir(sessionDir, cwd);
  }
  /** The id in the header. */
  getSessionId(): string {
    return this.#state.log.engine.header.id;
  }
  /** The path of the session file, which may not exist yet; undefined for a session in memory. */
  getSessionFile(): string | undefined {
    return this.#state.file;
  }
  /** The name set last, anywhere in the tree. */
  getSessionName(): string | undefined {
    return this.#state.log.engine.log.state.name;
  }
  /** A copy of the header, in the current form. */
  getHeader(): SessionHeader | null {
    return questions.headerOf(this.#state.log.engine);
  }
  /** The entry that the next one follows; null before the first. */
  getLeafId(): string | null {
    return this.#state.log.leaf.id;
  }
  /** The entry at the leaf. */
  getLeafEntry(): SessionEntry | undefined {
    const { id } = this.#state.log.leaf;
    return id === null ? undefined : this.getEntry(id);
  }
  /** The entry with that id. */
  getEntry(id: string): SessionEntry | undefined {
    return questions.entryOf(this.#state.log.engine, id);
  }
  /** The label of an entry. */
  getLabel(id: string): string | undefined {
    return this.#state.log.engine.log.state.folded.labels.get(id)?.label;
  }
  /** How many entries can be found by their id. */
  getEntryCount(): number {
    return questions.entryCount(this.#state.log.engine);
  }

  /** All entries in file order, without the header. */
  getEntries(): SessionEntry[] {
    return questions.entriesOf(this.#state.log.engine);
  }
  /** The entries directly below one, in file order; the roots for null. */
  getChildren(parentId: string | null): SessionEntry[] {
    return questions.childrenOf(this.#state.log.engine, parentId);
  }
  /** The entries from the root to one (default: the leaf); none for an unknown id. */
  getBranch(fromId?: string): SessionEntry[] {
    const { engine, leaf } = this.#state.log;
    return questions.branchOf(engine, fromId ?? leaf.id);
  }
  /** The tree, with labels; children by time. */
  getTree(): SessionTreeNode[] {
    return questions.treeOf(this.#state.log.engine);
  }
  /** What was found wrong with the session while reading it. Not in pi. */
  getDiagnostics(): readonly Diagnostic[] {
    return this.#state.log.engine.diagnostics;
  }

  /** What the model gets at the leaf. */
  buildSessionContext(): SessionContext {
    return contextOf(this.#state.log);
  }

  /** The entries that the context is made of, in its order. */
  buildContextEntries(): SessionEntry[] {
    return contextEntriesOf(this.#state.log);
  }

  /** The context, with its entries beside their messages. */
  buildSessionProjection(): SessionProjection {
    return projectionOf(this.#state.log);
  }

  /** Moves the leaf, in memory only. Throws `ERR_ENTRY_NOT_FOUND`. */
  branch(branchFromId: string): void {
    const { engine, leaf } = this.#state.log;
    drafts.requireRow(engine, branchFromId);
    leaf.pin(branchFromId);
  }

  /** Moves the leaf before the first entry, in memory only. */
  resetLeaf(): void {
    this.#state.log.leaf.pin(null);
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
    const isRoot = branchFromId === null;
    return this.#append(draft, isRoot ? { kind: "root" } : { kind: "entry", id: branchFromId });
  }

  /** Appends a message, as it is now, below the leaf, as all appends do; returns its id. */
  appendMessage(message: AgentMessage): string {
    return this.#append({ type: "message", message });
  }
  /** Records a change of the thinking level. */
  appendThinkingLevelChange(thinkingLevel: string): string {
    return this.#append({ type: "thinking_level_change", thinkingLevel });
  }
  /** Records a change of the model. */
  appendModelChange(provider: string, modelId: string): string {
    return this.#append({ type: "model_change", provider, modelId });
  }

  /** Appends a cost beside the conversation; returns the entry. */
  appendUsage(
    kind: string,
    provider: string,
    model: string,
    usage: Usage,
    note?: string,
  ): UsageEntry {
    // An empty note is none, as in pi.
    const fields = { kind, provider, model, usage, ...(note ? { note } : {}) };
    const id = this.#append({ type: "usage", ...fields });
    return questions.usageEntryOf(this.#state.log.engine, id);
  }

  /** Appends a summary of what came before; null keeps nothing of it. */
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
    return this.#append(draft, undefined, time);
  }

  /** Appends state of an extension, which the model never sees. */
  appendCustomEntry(customType: string, data?: unknown): string {
    return this.#append({ type: "custom", customType, data });
  }
  /** Appends a message of an extension, which the model sees. */
  // oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- as in pi
  appendCustomMessageEntry<T = unknown>(
    customType: string,
    content: string | readonly UserContent[],
    display: boolean,
    details?: T,
  ): string {
    return this.#append({ type: "custom_message", customType, content, display, details });
  }

  /** Names the session; an empty name clears it. */
  appendSessionInfo(name: string): string {
    // First, so that a name that cannot be given there leaves nothing in the log.
    nameInSlot(this.#state.log, name);
    return this.#append({ type: "session_info", name: normalizeName(name) });
  }

  /** Labels an entry, or clears its label. Throws `ERR_ENTRY_NOT_FOUND`. */
  appendLabelChange(targetId: string, label: string | undefined): string {
    drafts.requireRow(this.#state.log.engine, targetId);
    return this.#append({ type: "label", targetId, label });
  }

  /**
   * Changes what the model sees of an entry of the active branch; null hides it.
   * @throws BranchlogError `ERR_INVALID_ARGUMENT`, `ERR_ENTRY_NOT_FOUND`.
   */
  appendContextEdit(targetId: string, replacement: ContextEditDraft["replacement"]): string {
    return this.#append(drafts.contextEdit(this.#state.log, targetId, replacement));
  }

  /**
   * Calls `listener` for each appended entry that is on a branch that nobody chose: other processes
   * had continued from the leaf. Returns what ends that. Not in pi.
   */
  onDiverged(listener: DivergedListener): () => void {
    return this.#position.onDiverged(listener);
  }

  #append(draft: KnownDraft, parent?: ParentChoice, timeMs?: number): string {
    return this.#position.append(draft, parent, timeMs);
  }
}
