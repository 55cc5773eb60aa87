/**
 * omp's SessionManager over an engine: the calls of its session document, and those of later
 * versions where that says nothing. It only translates; what it knows is in its state, what it does
 * in the engine. Here it moves and appends; what it is asked is in the class that it extends.
 */
import { engineOptionNames } from "../../log/engine-options.ts";
import { requireOptions } from "../../argument-checks.ts";
import type { TitleSource } from "../../dialects/title-slot.ts";
import type { AgentMessage, UserContent } from "../../entries/message-types.ts";
import type { EntryDraft } from "../../entries/entry-draft.ts";
import type { SessionInit } from "../../entries/omp-entry-types.ts";
import { makeWatchable } from "../../session/watched-session.ts";
import type { ParentChoice } from "../../append/request.ts";
import type { EngineOptions } from "../../log/engine-options.ts";
import type { NewSessionOptions } from "../../session/new-header.ts";
import * as drafts from "../pi/checked-drafts.ts";
import { branchOff } from "../pi/derived-session.ts";
import { ManagerPosition } from "../pi/manager-position.ts";
import type { DivergedListener } from "../pi/manager-position.ts";
import { openSession, startSession } from "../pi/manager-state.ts";
import type { ManagerState } from "../pi/manager-state.ts";
import { managerFactory } from "./manager-factory.ts";
import type { ManagerFactory } from "./manager-factory.ts";
import { listAll, listSessions } from "./session-list.ts";
import { named } from "./session-name.ts";
import { SessionReader } from "./session-reader.ts";

let newManager: (state: ManagerState) => SessionManager;

/** The static constructors, with ports and limits of the caller's choice. */
export function managersWith(options: EngineOptions): ManagerFactory<SessionManager> {
  return managerFactory(requireOptions(options, engineOptionNames), (state) => newManager(state));
}

const defaults = managersWith({});

/** See the file comment. Made by its static methods; there is nothing that must be closed. */
export class SessionManager extends SessionReader {
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
  static readonly listAll: typeof listAll = listAll;

  readonly #position: ManagerPosition;

  static {
    newManager = (state) => new SessionManager(new ManagerPosition(state));
  }

  private constructor(position: ManagerPosition) {
    super(position);
    this.#position = position;
    makeWatchable(this, position);
  }

  get #state(): ManagerState {
    return this.#position.state;
  }

  /** Goes to another file; rejects as `open`, and stays where it was then. */
  async setSessionFile(path: string): Promise<void> {
    this.#position.go(openSession(this.#state, path));
  }

  /** Goes to a new session, of which nothing is on disk yet. Gives the path of its file. */
  async newSession(options?: NewSessionOptions): Promise<string | undefined> {
    return this.#position.go(startSession(this.#state, options)).file;
  }

  /** Goes to a new session that holds the branch to an entry. Returns the path of its file. */
  createBranchedSession(leafId: string): string | undefined {
    const { isPersisted, file } = this.#position.go(branchOff(this.#state, leafId));
    return isPersisted ? file : undefined;
  }

  /** Resolves once what was appended is on the device. */
  async flush(): Promise<void> {
    this.flushSync();
  }

  /** As {@link SessionManager.flush}, blocking. */
  flushSync(): void {
    const { engine, draftOf } = this.#state.log;
    if (this.#state.isPersisted && draftOf === null) engine.log.file.syncSync();
  }

  /** As {@link SessionManager.flush}; the manager can be used all the same. */
  async close(): Promise<void> {
    await this.flush();
  }

  /**
   * Names the session. An agent's name (`auto`) never replaces a user's, and an empty one is none.
   * @returns Whether the session has that name now.
   */
  async setSessionName(
    name: string,
    source: TitleSource = "auto",
    trigger?: string,
  ): Promise<boolean> {
    return this.#setName(name, source, trigger);
  }
  /** Names the session whatever the origin of its name, as older versions do. */
  async setSessionTitle(title: string): Promise<void> {
    this.#setName(title);
  }

  #setName(title: string, source?: TitleSource, trigger?: string): boolean {
    const log = named(this.#state.log, { title, source, trigger });
    if (log !== null && log !== this.#state.log) this.#position.go({ ...this.#state, log });
    return log !== null;
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
    fromExtension?: boolean,
  ): string {
    if (branchFromId !== null) drafts.requireRow(this.#state.log.engine, branchFromId);
    const fields = { fromId: branchFromId ?? "root", summary, details, fromExtension };
    const isRoot = branchFromId === null;
    const parent: ParentChoice = isRoot ? { kind: "root" } : { kind: "entry", id: branchFromId };
    return this.#append({ type: "branch_summary", ...fields }, parent);
  }

  /** Appends a message, as it is now, below the leaf, as all appends do; returns its id. */
  appendMessage(message: AgentMessage): string {
    return this.#append({ type: "message", message });
  }
  /** Records a change of the thinking level; without one, thinking is off. */
  appendThinkingLevelChange(thinkingLevel?: string | null, configured?: string): string {
    const level = thinkingLevel ?? null;
    return this.#append({ type: "thinking_level_change", thinkingLevel: level, configured });
  }
  /** Records a change of the model (`provider/modelId`) of a role; by default the main one. */
  appendModelChange(model: string, role?: string): string {
    return this.#append({ type: "model_change", model, role });
  }
  /** Records what a subagent starts from. */
  appendSessionInit(init: SessionInit): string {
    return this.#append({ type: "session_init", ...init });
  }
  /** Appends a summary of what came before. */
  // oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- as in omp
  appendCompaction<T = unknown>(
    summary: string,
    shortSummary: string | undefined,
    firstKeptEntryId: string,
    tokensBefore: number,
    details?: T,
    fromExtension?: boolean,
    preserveData?: Readonly<Record<string, unknown>>,
  ): string {
    const own = { summary, shortSummary, firstKeptEntryId, tokensBefore };
    return this.#append({ type: "compaction", ...own, details, fromExtension, preserveData });
  }
  /** Appends state of an extension, which the model never sees. */
  appendCustomEntry(customType: string, data?: unknown): string {
    return this.#append({ type: "custom", customType, data });
  }
  /** Appends a message of an extension, which the model sees. */
  // oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- as in omp
  appendCustomMessageEntry<T = unknown>(
    customType: string,
    content: string | readonly UserContent[],
    display: boolean,
    details?: T,
    attribution?: "user" | "agent",
  ): string {
    const fields = { customType, content, display, details, attribution };
    return this.#append({ type: "custom_message", ...fields });
  }
  /** Records rules that were injected. */
  appendTtsrInjection(ruleNames: readonly string[]): string {
    return this.#append({ type: "ttsr_injection", injectedRules: ruleNames });
  }
  /** Records that a mode was entered, or with `none` that it was left. */
  appendModeChange(mode: string, data?: Readonly<Record<string, unknown>>): string {
    return this.#append({ type: "mode_change", mode, data });
  }
  /** Records a change of the service tiers; null: none. */
  appendServiceTierChange(serviceTier: Readonly<Record<string, string>> | null): string {
    return this.#append({ type: "service_tier_change", serviceTier });
  }
  /** From here on the model sees nothing of what came before. */
  appendResetBoundary(): string {
    return this.#append({ type: "reset_boundary" });
  }
  /** Labels an entry, or clears its label. Throws `ERR_ENTRY_NOT_FOUND`. */
  appendLabelChange(targetId: string, label: string | undefined): string {
    drafts.requireRow(this.#state.log.engine, targetId);
    return this.#append({ type: "label", targetId, label });
  }

  /**
   * Calls `listener` for each appended entry that is on a branch that nobody chose: other processes
   * had continued from the leaf. Returns what ends that. Not in omp.
   */
  onDiverged(listener: DivergedListener): () => void {
    return this.#position.onDiverged(listener);
  }

  #append(draft: EntryDraft, parent?: ParentChoice): string {
    return this.#position.append(draft, parent);
  }
}
