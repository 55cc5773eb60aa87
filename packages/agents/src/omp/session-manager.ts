/** omp's SessionManager on an engine: the calls of its documentation, and of later versions. */
import type { UserContent } from "@branchlog/core/entries";
import { requireOptions, engineOptionNames, resolvePath } from "@branchlog/core/files";
import { mainRole, roleModelType, isStoredObject } from "@branchlog/core/rows";
import type { TitleSource } from "@branchlog/core/rows";
import { credentialPinsOf } from "./credential-pins.ts";
import type { CredentialPin } from "./credential-pins.ts";
import { TurnBudget } from "./turn-budget.ts";
import type { TurnBudgetState } from "./turn-budget.ts";
import type { OmpSessionEntry, SessionInit } from "./entry-types.ts";
import type { SessionEntry } from "@branchlog/core";
import type { EngineOptions, UsageTotals } from "@branchlog/core/types";
import { usageFold } from "@branchlog/core/engine";
import type { Engine, NewSessionOptions } from "@branchlog/core/engine";
import { requireRow } from "../pi/checked-drafts.ts";
import { forkFile } from "../pi/derived-session.ts";
import { treeOf } from "../pi/log-queries.ts";
import { ManagerBase, parentChoice, positionOf } from "../pi/manager-base.ts";
import type { ManagerPosition } from "../pi/manager-position.ts";
import {
  createSession,
  filePlace,
  openSession,
  openWhereItBelongs,
  startInMemory,
  startSession,
} from "../pi/manager-state.ts";
import type { ManagerState } from "../pi/manager-state.ts";
import type { SessionTreeNode } from "../pi/tree-nodes.ts";
import { getDefaultSessionDir } from "./omp-directory.ts";
import { artifactsOf, newArtifact, sessionEnding } from "./session-artifacts.ts";
import { ompContextOf, ompStateAt } from "./log-context.ts";
import type { SessionContext } from "./log-context.ts";
import { listAll, listSessions, mostRecentSession, sessionDirFor } from "./session-list.ts";
import { named, titleSource } from "./session-name.ts";

/** Makes managers of type `M`. */
export interface ManagerFactory<M> {
  /**
   * A new session. Its file appears with the first user or assistant message.
   *
   * @param sessionDir Default: omp's directory for `cwd`. Created at once.
   */
  create(this: void, cwd: string, sessionDir?: string): M;
  /**
   * Opens a session file of any version, unchanged. A missing file is a new session for that path;
   * an empty one gets its header, the only write of opening.
   *
   * @param sessionDir For further sessions. Default: the directory of the file.
   * @throws BranchlogError `ERR_NOT_A_SESSION`, `ERR_HEADER_DAMAGED`, `ERR_LOG_UNREADABLE`.
   */
  open(this: void, path: string, sessionDir?: string): Promise<M>;
  /** Opens the session of `cwd` that changed last, or starts one. Throws as `open`. */
  continueRecent(this: void, cwd: string, sessionDir?: string): Promise<M>;
  /** A session that never touches a disk. */
  inMemory(this: void, cwd?: string): M;
  /**
   * Copies a whole session file, of any version, for another working directory; opens the copy.
   *
   * @throws BranchlogError if the source is missing or not a session; nothing is created.
   */
  forkFrom(this: void, sourcePath: string, cwd: string, sessionDir?: string): Promise<M>;
}

let newManager: (state: ManagerState) => SessionManager;

/** With files, lock, clock and ids of the caller. */
export function managersWith(given: EngineOptions): ManagerFactory<SessionManager> {
  const checked = requireOptions(given, engineOptionNames);
  const options = { newSessionDialect: "omp", ...checked } as const;
  return {
    create: (cwd, dir) => newManager(createSession(options, cwd, sessionDirFor(cwd, dir))),
    open: async (path, dir) => newManager(openWhereItBelongs(options, path, dir)),
    continueRecent: async (cwd, dir) => {
      const place = filePlace(cwd, sessionDirFor(cwd, dir), options);
      const recent = mostRecentSession(cwd, dir);
      return newManager(recent === null ? startSession(place) : openSession(place, recent));
    },
    inMemory: (cwd) => newManager(startInMemory(options, cwd)),
    forkFrom: async (sourcePath, cwd, dir) =>
      newManager(forkFile(options, sourcePath, cwd, sessionDirFor(cwd, dir))),
  };
}

const defaults = managersWith({});

/** Made by its static methods; needs no close. */
export class SessionManager extends ManagerBase<Exclude<OmpSessionEntry, SessionEntry>> {
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

  static {
    newManager = (state) => new SessionManager(state);
  }

  /** Where sessions of a working directory are by default. */
  static getDefaultSessionDir(cwd: string, agentDir?: string): string {
    return getDefaultSessionDir(resolvePath(cwd), agentDir);
  }

  #additionalDirectories: readonly string[] | undefined;
  readonly #budget = new TurnBudget();

  private constructor(state: ManagerState) {
    super(state);
  }

  get #position(): ManagerPosition {
    return positionOf(this);
  }

  get #state(): ManagerState {
    return this.#position.state;
  }

  /** Switches to another file; rejects as `open`, then without a switch. */
  async setSessionFile(path: string): Promise<void> {
    this.#position.go(openSession(this.#state, path));
  }

  /** Switches to a new session, not yet on disk. Returns the path of its file. */
  async newSession(options?: NewSessionOptions): Promise<string | undefined> {
    return this.#position.go(startSession(this.#state, options)).file;
  }

  /** {@link SessionManager.getSessionName} under its old name. */
  getSessionTitle(): string | undefined {
    return this.getSessionName();
  }
  /** Undefined if unknown. */
  get titleSource(): TitleSource | undefined {
    return titleSource(this.#state.log.engine);
  }

  /** With labels; children by time; without archived entries. */
  getTree(options: { readonly includeArchived?: boolean } = {}): SessionTreeNode[] {
    const { engine } = this.#state.log;
    const roots = treeOf(engine);
    return options.includeArchived === true ? roots : withoutArchived(roots, archivedIds(engine));
  }

  /**
   * The context of the model at the leaf. References to images are as stored; see `resolveBlobs`.
   */
  buildSessionContext(): SessionContext {
    return ompContextOf(this.#state.log);
  }
  /** The rules injected on the path to the leaf. */
  getInjectedTtsrRules(): string[] {
    return ompStateAt(this.#state.log).injectedTtsrRules;
  }
  /** The role of the last model change on the path to the leaf. */
  getLastModelChangeRole(): string | undefined {
    const { engine, leaf } = this.#state.log;
    const view = engine.pathView(leaf.id);
    for (let i = view.length - 1; i >= 0; i -= 1) {
      if (view.type(i) === "model_change") return view.role(i) ?? mainRole;
      if (view.customType(i) === roleModelType) return roleOf(view.entry(i));
    }
    return undefined;
  }
  /** Totals of the whole log. Reads bodies on first use, then only new ones. */
  getUsageStatistics(): UsageTotals {
    const { engine } = this.#state.log;
    return usageFold(engine).valueSync().total;
  }

  /** The working directory in the header. */
  getRecordedCwd(): string | undefined {
    return this.getHeader()?.cwd;
  }

  /** Of the workspace, next to the working directory: as set last, or in the header. */
  getAdditionalDirectories(): string[] {
    if (this.#additionalDirectories !== undefined) return [...this.#additionalDirectories];
    const recorded: unknown = Reflect.get(this.getHeader() ?? {}, "additionalDirectories");
    return Array.isArray(recorded) ? recorded.filter((one) => typeof one === "string") : [];
  }

  /** For this object alone: a header is never rewritten. */
  async setAdditionalDirectories(directories: readonly string[]): Promise<void> {
    const own = resolvePath(this.getCwd());
    const resolved = new Set(directories.map((directory) => resolvePath(directory)));
    this.#additionalDirectories = [...resolved].filter((directory) => directory !== own);
  }

  /** Where the outputs of tools are kept; null: nowhere. */
  getArtifactsDir(): string | null {
    const path = this.#state.isPersisted ? this.getSessionFile() : undefined;
    return path?.endsWith(sessionEnding) === true ? artifactsOf(path) : null;
  }

  /** None: `allocateArtifactPath` gives files to the tools. */
  getArtifactManager(): null {
    return null;
  }

  /** A new file for an output of a tool, and its number; nothing for a session without a file. */
  async allocateArtifactPath(toolType: string): Promise<{ id?: string; path?: string }> {
    const directory = this.getArtifactsDir();
    const { fs } = this.#state.log.engine.settings.ports;
    return directory === null ? {} : newArtifact(fs, directory, toolType);
  }

  /** From here on, tokens that models write count for the budget; null: no budget. */
  beginTurnBudget(total: number | null, hard: boolean): void {
    this.#budget.begin(total, hard, this.#outputTokens());
  }

  /** Adds entries that a subagent wrote to another session. */
  recordEvalSubagentOutput(output: number): void {
    this.#budget.addOfSubagent(output);
  }

  /** In tokens. */
  getTurnBudget(): TurnBudgetState {
    return this.#budget.state(this.#outputTokens());
  }

  #outputTokens(): number {
    return this.getUsageStatistics().output;
  }

  /** Resolves once all appends are on the device. */
  async flush(): Promise<void> {
    this.flushSync();
  }

  /** {@link SessionManager.flush}, blocking. */
  flushSync(): void {
    const { engine, draftOf } = this.#state.log;
    if (this.#state.isPersisted && draftOf === null) engine.log.file.syncSync();
  }

  /** {@link SessionManager.flush}; the manager stays usable. */
  async close(): Promise<void> {
    await this.flush();
  }

  /** Does nothing: later appends rewrite nothing, and are kept. */
  seal(): void {
    // See above.
  }

  /** Does nothing: entries are read when they are asked for. */
  releaseRetainedEntries(): void {
    // See above.
  }

  /**
   * Names the session. A generated name (`auto`) never replaces a user's; an empty one is ignored.
   *
   * @returns Whether the session has that name now.
   */
  async setSessionName(
    name: string,
    source: TitleSource = "auto",
    trigger?: string,
  ): Promise<boolean> {
    return this.#setName(name, source, trigger);
  }
  /** Names the session for any source of its name, as older versions do. */
  async setSessionTitle(title: string): Promise<void> {
    this.#setName(title);
  }

  #setName(title: string, source?: TitleSource, trigger?: string): boolean {
    const log = named(this.#state.log, { title, source, trigger });
    if (log !== null && log !== this.#state.log) this.#position.go({ ...this.#state, log });
    return log !== null;
  }

  /** Appends a summary of the branch that is left, below an entry or as a root; returns its id. */
  branchWithSummary(
    branchFromId: string | null,
    summary: string,
    details?: unknown,
    fromExtension?: boolean,
  ): string {
    if (branchFromId !== null) requireRow(this.#state.log.engine, branchFromId);
    const fields = { fromId: branchFromId ?? "root", summary, details, fromExtension };
    return this.#position.append({ type: "branch_summary", ...fields }, parentChoice(branchFromId));
  }

  /** Records a change of the thinking level; without one, thinking is off. */
  appendThinkingLevelChange(thinkingLevel?: string | null, configured?: string): string {
    const fields = { thinkingLevel: thinkingLevel ?? null, configured };
    return this.#position.append({ type: "thinking_level_change", ...fields });
  }
  /** Records a change of the model (`provider/modelId`) of a role; by default the main one. */
  appendModelChange(model: string, role?: string): string {
    return this.#position.append({ type: "model_change", model, role });
  }
  /** Records the start of a subagent. */
  appendSessionInit(init: SessionInit): string {
    return this.#position.append({ type: "session_init", ...init });
  }
  /** Appends a summary of the earlier entries. */
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
    const more = { details, fromExtension, preserveData };
    return this.#position.append({ type: "compaction", ...own, ...more });
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
    return this.#position.append({ type: "custom_message", ...fields });
  }
  /** Records rules that were injected. */
  appendTtsrInjection(ruleNames: readonly string[]): string {
    return this.#position.append({ type: "ttsr_injection", injectedRules: ruleNames });
  }
  /** Records that a mode was entered, or with `none` that it was left. */
  appendModeChange(mode: string, data?: Readonly<Record<string, unknown>>): string {
    return this.#position.append({ type: "mode_change", mode, data });
  }
  /** Records a change of the service tiers; null: none. */
  appendServiceTierChange(serviceTier: Readonly<Record<string, string>> | null): string {
    return this.#position.append({ type: "service_tier_change", serviceTier });
  }
  /** Records which account of a provider serves the session from here on. */
  appendCredentialPin(provider: string, hash: string): string {
    return this.#position.append({ type: "credential_pin", provider, hash });
  }
  /** The accounts on the path to the leaf, by provider. */
  getCredentialPins(): Map<string, CredentialPin> {
    return credentialPinsOf(this.getBranch());
  }
  /** From here on the model sees no earlier entries. */
  appendResetBoundary(): string {
    return this.#position.append({ type: "reset_boundary" });
  }
}

/** The reading part of a {@link SessionManager}. */
export type ReadonlySessionManager = Pick<
  SessionManager,
  Extract<keyof SessionManager, `get${string}` | `build${string}` | "isPersisted" | "titleSource">
>;

/** Of a model stored in a pi log as extension state. */
function roleOf(entry: SessionEntry): string {
  const data: unknown = entry.type === "custom" ? entry.data : undefined;
  const role: unknown = isStoredObject(data) ? Reflect.get(data, "role") : undefined;
  return typeof role === "string" ? role : mainRole;
}

/** Of several records for one entry the last counts. */
function archivedIds({ index, bodies }: Engine): ReadonlySet<string> {
  const archived = new Set<string>();
  for (let row = 0; row < index.count; row += 1) {
    if (index.kindOf(row).type !== "archive" || !index.isNode(row)) continue;
    const entry = bodies.entrySync(row);
    const targetId: unknown = entry && Reflect.get(entry, "targetId");
    if (entry === undefined || typeof targetId !== "string") continue;
    if (Reflect.get(entry, "archived") === true) archived.add(targetId);
    else archived.delete(targetId);
  }
  return archived;
}

/** Changes the child lists of the nodes. */
function withoutArchived(
  roots: SessionTreeNode[],
  archived: ReadonlySet<string>,
): SessionTreeNode[] {
  if (archived.size === 0) return roots;
  const lists = [roots];
  for (let list = lists.pop(); list !== undefined; list = lists.pop()) {
    let shown = 0;
    for (const node of list) if (!archived.has(node.entry.id)) list[shown++] = node;
    list.length = shown;
    for (const { children } of list) if (children.length > 0) lists.push(children);
  }
  return roots;
}
