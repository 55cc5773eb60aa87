/** A session: one open log and a leaf in it. */
import type { AnyDraft, EntryDraft } from "../entries/entry-draft.ts";
import { requireOptions, requireText, requireList } from "../argument-checks.ts";
import { normalizeName, requireEntryId } from "../entries/identifiers.ts";
import { AppendQueue } from "../append/queue.ts";
import type { AppendResult } from "../append/append-result.ts";
import { appendAllNames, appendNames, requestOf, LeafCursor } from "../append/request.ts";
import type { AnyTypeOptions, AppendOptions } from "../append/request.ts";
import type { Engine } from "./engine.ts";
import { EngineAccess, makeWatchable } from "./watched-session.ts";
import {
  requireNode,
  rowOfEntry,
  entryLines,
  openBodyStream,
  pickFromBody,
  queryNames,
  rowsOf,
} from "./entry-query.ts";
import { recoverLog } from "./recovery.ts";
import type { Recovery } from "./recovery.ts";
import { writeTitle } from "./title-write.ts";
import { itemsOf, runAsync } from "@branchlog/streaming";
import type { JsonValue } from "@branchlog/streaming";
import type { RowBody } from "../bodies/body-reader.ts";
import type { DialectName } from "../dialects/dialect.ts";
import type { SourceKind } from "../dialects/foreign-record.ts";
import type { SessionEntry, SessionHeader } from "../entries/entry-types.ts";
import type { Diagnostic } from "../index-table/diagnostics.ts";
import type { DivergedEntry } from "../log/findings.ts";
import { tipRows } from "../index-table/tree-walk.ts";
import type { PathContext } from "../projections/context.ts";
import type { Label, Labels } from "../projections/labels.ts";
import { settingsOfPath } from "../projections/settings.ts";
import type { PathSettings } from "../projections/settings.ts";
import { summary } from "../projections/summary.ts";
import type { SessionSummary } from "../projections/summary.ts";
import { childRows, envelopeOf, treeView } from "../projections/tree.ts";
import type { Envelope, TreeView } from "../projections/tree.ts";
import type { SessionUsage } from "../projections/usage.ts";
import { BodyFold, usageFold } from "./body-fold.ts";
import { contextNames, loadedContext } from "./context-load.ts";
import type { ContextOptions } from "./context-load.ts";
import { ContextMemo } from "./path-fold.ts";
import type { BodyPart, EntryLine, EntryQuery } from "./entry-query.ts";
import { checkLinks } from "../log/findings.ts";
import { readOfOneLog } from "./same-log.ts";

/**
 * The read-only part of a session. An id that is not a string is `ERR_INVALID_ARGUMENT` everywhere;
 * an id that the log does not hold is an error only where stated.
 */
export class SessionView {
  readonly #access: EngineAccess;
  readonly #leaf: LeafCursor;
  readonly #memo = new ContextMemo();
  readonly #usage: BodyFold<SessionUsage>;
  readonly #summary: BodyFold<SessionSummary>;

  /** @internal */
  constructor(access: EngineAccess, leaf: LeafCursor) {
    this.#access = access;
    this.#leaf = leaf;
    this.#usage = usageFold(access.engine);
    this.#summary = new BodyFold(access.engine, summary);
  }

  get path(): string {
    return this.#access.engine.path;
  }

  /** The dialect of appended entries; stored ones may have another. */
  get dialect(): DialectName {
    return this.#access.engine.appender.dialect;
  }

  /** The agent whose transcript this is, which is only read; undefined for pi and omp. */
  get transcriptOf(): SourceKind | undefined {
    return this.#access.engine.log.state.indexer.transcript?.kind;
  }

  /** The header as stored; of a transcript the one that a session made of it would have. */
  get header(): SessionHeader {
    return this.#access.engine.header;
  }

  /** Number of entries in this generation of the log. */
  get revision(): number {
    return this.#access.engine.log.state.revision;
  }

  /** Length of the log in bytes at its last stat. */
  get sizeBytes(): number {
    return this.#access.engine.log.size;
  }

  /** The leaf of this session: the id of an entry, or null before the first. */
  get leaf(): string | null {
    return this.#leaf.id;
  }

  /** The id of the last entry of the log, or null. */
  get tail(): string | null {
    return this.#access.engine.tailId;
  }

  get name(): string | undefined {
    return this.#access.engine.log.state.name;
  }

  /** Labels in force by the id of their target. */
  get labels(): Labels {
    return new Map(this.#access.engine.log.state.folded.labels);
  }

  /** Model and thinking level at the leaf. May read the body of one entry. */
  get settings(): PathSettings {
    return settingsOfPath(this.#access.engine.pathView(this.#leaf.id));
  }

  /** Token and cost totals of the log. One pass over new bodies of messages on first demand. */
  get usage(): Promise<SessionUsage> {
    return this.#usage.value();
  }

  /** Message count, first message and last activity. One pass over bodies on first demand. */
  get summary(): Promise<SessionSummary> {
    return this.#summary.value();
  }

  get diagnostics(): readonly Diagnostic[] {
    return this.#access.engine.diagnostics;
  }

  /** @internal Throws unless all reads of the work are of one log. */
  readOfOneLog<T>(work: () => Promise<T>): Promise<T> {
    return readOfOneLog(this.#access.open(), work);
  }

  /** The entry with that id, or undefined. It is shared: do not change it. */
  async entry(id: string): Promise<SessionEntry | undefined> {
    const engine = this.#access.open();
    const row = rowOfEntry(engine, id);
    return row < 0 ? undefined : engine.bodies.entry(row);
  }

  /** Bodies are read during the iteration. */
  entries(query: EntryQuery = {}): AsyncGenerator<SessionEntry> {
    return itemsOf(this.#entryBatches(query), requireOptions(query, queryNames).signal);
  }

  /**
   * The same entries as the bytes of their lines, without parsing: number forms, escapes, repeated
   * keys and invalid UTF-8 are as stored. Of an older log they are what its migration would write.
   */
  async *lines(query: EntryQuery = {}): AsyncGenerator<EntryLine> {
    yield* entryLines(this.#access.open(), requireOptions(query, queryNames), this.#leaf.id);
  }

  /** The entries from the root to an entry (default: the leaf). Empty for an unknown id. */
  async branch(id: string | null = this.#leaf.id): Promise<SessionEntry[]> {
    const engine = this.#access.open();
    const { rows } = engine.rowPath(id === null ? null : requireEntryId(id));
    const entries: SessionEntry[] = [];
    for await (const { entry } of engine.bodies.entries(rows)) entries.push(entry);
    return entries;
  }

  /** Envelopes of the entries directly below an entry; of the roots for null. */
  children(id: string | null): Envelope[] {
    const { index } = this.#access.open();
    const rows = childRows(index, id === null ? null : requireEntryId(id));
    return rows.map((row) => envelopeOf(index, row));
  }

  /** Envelopes of the entries without children, in file order. */
  tips(): Envelope[] {
    const { index } = this.#access.open();
    return tipRows(index).map((row) => envelopeOf(index, row));
  }

  /** The first entries of branches that nobody chose, in file order; see `Divergence`. */
  async divergences(): Promise<DivergedEntry[]> {
    return (await checkLinks(this.#access.open().log.state)).divergences();
  }

  /** The whole current tree, as envelopes. */
  tree(): TreeView {
    return treeView(this.#access.open().index);
  }

  /** The label of an entry, or undefined. */
  label(id: string): Label | undefined {
    return this.#access.open().log.state.folded.labels.get(requireEntryId(id));
  }

  /**
   * The model's context at the leaf, or at another entry. `truncatedAt` reports a missing parent;
   * with `bridgeGaps` the context continues at the entry before, in file order. The next context at
   * the leaf costs only the added entries: the list is the caller's, the messages in it are shared.
   * @throws BranchlogError `ERR_ENTRY_NOT_FOUND`.
   */
  async context(options: ContextOptions = {}): Promise<PathContext> {
    const engine = this.#access.open();
    const { at, bridgeGaps = false } = requireOptions(options, contextNames);
    const from = at === undefined ? this.#leaf.id : at;
    const context =
      at === undefined && !bridgeGaps
        ? await this.#memo.pathContextAt(engine, from)
        : (await loadedContext(engine, from, bridgeGaps)).context;
    const isCompacted = context.messages.some(({ role }) => role === "compactionSummary");
    return this.transcriptOf !== undefined && isCompacted
      ? { ...context, approximate: true }
      : context;
  }

  /**
   * Tokens of the stored JSON, in bounded memory. Throws `ERR_ENTRY_NOT_FOUND`,
   * `ERR_ENTRY_DAMAGED`.
   */
  bodyStream(id: string, signal?: AbortSignal): BodyPart {
    return openBodyStream(this.#access.open(), id, signal);
  }

  /**
   * One stored value inside an entry, without building the rest of it. Throws
   * `ERR_ENTRY_NOT_FOUND`, `ERR_ENTRY_DAMAGED`, `ERR_ENTRY_TOO_LARGE`.
   */
  async pick(
    id: string,
    path: readonly (string | number)[],
    signal?: AbortSignal,
  ): Promise<JsonValue | undefined> {
    return pickFromBody(this.#access.open(), id, requireList("The path", path), signal);
  }

  async *#entryBatches(query: EntryQuery): AsyncGenerator<Iterable<SessionEntry>, void, undefined> {
    const engine = this.#access.open();
    const rows = rowsOf(engine, query, this.#leaf.id);
    for await (const batch of engine.bodies.batches(rows, query.signal)) yield entriesIn(batch);
  }
}

function* entriesIn(bodies: Iterable<RowBody>): Generator<SessionEntry> {
  for (const { entry } of bodies) yield entry;
}

/** Made by `openSession`, `createSession` and `memorySession`; see `live()` for its observables. */
export class Session extends SessionView {
  readonly #access: EngineAccess;
  readonly #leaf: LeafCursor;
  readonly #queue: AppendQueue;
  #isClosed = false;

  /** @internal Sessions are opened, not constructed. */
  constructor(engine: Engine, { follow = true }: { readonly follow?: boolean } = {}) {
    const { changes } = engine;
    const leaf = new LeafCursor(follow, engine.tailId, changes.notify);
    const access = new EngineAccess(engine);
    super(access, leaf);
    this.#access = access;
    this.#leaf = leaf;
    this.#queue = new AppendQueue(engine.appender, leaf);
    makeWatchable(this, {
      engine,
      leaf,
      changes,
      refresh: () => {
        engine.refreshSync();
        leaf.sawTail(engine.tailId);
        // A following leaf is at what others appended; a pinned one has not read it.
        if (leaf.following) engine.appender.markSeen();
      },
      reading: (read) => access.reading(read),
      isClosed: () => this.#isClosed,
    });
  }

  /**
   * Appends one entry. Resolves once it is in the log. Its type is one of pi or omp, or has a
   * namespace, as `x:note`; with `allowUnknownType` it may be any.
   * @throws BranchlogError `ERR_UNSERIALIZABLE`, `ERR_INVALID_ARGUMENT`, `ERR_READ_ONLY`,
   * `ERR_CONFLICT`, `ERR_DIVERGED`, `ERR_DUPLICATE_ID`, `ERR_ENTRY_NOT_FOUND`, `ERR_LOCK_TIMEOUT`,
   * `ERR_LOG_GONE`, `ERR_APPEND_FAILED`, `ERR_APPEND_UNCERTAIN`, `ERR_MIGRATION`,
   * `ERR_VERSION_NEWER`, `ERR_CLOSED`, `ERR_QUEUE_FULL`, `ERR_DURABILITY_UNKNOWN`.
   */
  append(draft: EntryDraft, options?: AppendOptions): Promise<AppendResult>;
  append(draft: AnyDraft, options: AnyTypeOptions): Promise<AppendResult>;
  async append(draft: AnyDraft, options: AppendOptions = {}): Promise<AppendResult> {
    const [result] = await this.#append([draft], requireOptions(options, appendNames));
    if (result === undefined) throw new Error("an append without a result");
    return result;
  }

  /** Appends entries as one write, each the parent of the next, as {@link Session.append}. */
  appendAll(
    drafts: readonly EntryDraft[],
    options?: Omit<AppendOptions, "id">,
  ): Promise<readonly AppendResult[]>;
  appendAll(
    drafts: readonly AnyDraft[],
    options: AnyTypeOptions<Omit<AppendOptions, "id">>,
  ): Promise<readonly AppendResult[]>;
  async appendAll(
    drafts: readonly AnyDraft[],
    options: Omit<AppendOptions, "id"> = {},
  ): Promise<readonly AppendResult[]> {
    return this.#append(drafts, requireOptions(options, appendAllNames));
  }

  /**
   * Names the session, in the title slot or else in an entry, which is returned; an empty name
   * clears it. Throws as {@link Session.append}.
   */
  async setName(
    name: string,
    options: Pick<AppendOptions, "signal"> = {},
  ): Promise<AppendResult | null> {
    const engine = this.#access.open();
    const title = normalizeName(requireText("The name", name));
    const { signal } = requireOptions(options, { signal: true });
    if (engine.log.state.titleSlot === undefined) {
      return this.append({ type: "session_info", name: title }, options);
    }
    await this.#queue.run(() => runAsync(writeTitle(engine, title, "user"), signal));
    // An empty slot leaves the naming to the entries.
    const isNamed = title === "" && engine.log.state.name !== undefined;
    return isNamed ? this.append({ type: "session_info", name: "" }, options) : null;
  }

  /**
   * Moves the leaf once earlier appends are done, in memory only; `persist` appends a `custom`
   * entry there, the leaf of programs that open the log later. Throws `ERR_ENTRY_NOT_FOUND`, also
   * for a damaged entry; `ERR_INVALID_ARGUMENT`.
   */
  async moveTo(id: string | null, options: { readonly persist?: boolean } = {}): Promise<void> {
    const engine = this.#access.open();
    const { persist = false } = requireOptions(options, { persist: true });
    await this.#queue.run(() => {
      if (id !== null) requireNode(engine, id);
      this.#leaf.pin(id);
      engine.appender.markSeen();
    });
    if (!persist) return;
    await this.append({ type: "custom", customType: "branchlog.leaf" }, { parent: { id } });
  }

  /** Once earlier appends are done, makes the leaf follow the tail until an append or a move. */
  async follow(): Promise<void> {
    const engine = this.#access.open();
    await this.#queue.run(() => {
      this.#leaf.follow(engine.tailId);
      engine.appender.markSeen();
    });
  }

  /** Reads what others appended; a following leaf moves to the new tail. */
  async refresh(): Promise<void> {
    const engine = this.#access.open();
    await this.#queue.run(async () => {
      await engine.refresh();
      this.#leaf.sawTail(engine.tailId);
      engine.appender.markSeen();
    });
  }

  /**
   * Writes back a deleted log, and entries that a failed sync left unsynced. Throws `ERR_LOG_GONE`
   * if the log is no longer open here; `ERR_DURABILITY_UNKNOWN` if the disk fails again.
   */
  async recover(): Promise<Recovery> {
    const engine = this.#access.open();
    return this.#queue.run(() => recoverLog(engine));
  }

  /** Waits until appends under way are as durable as promised, then refuses further use. */
  async close(): Promise<void> {
    const { durability, checkpoints, release, changes } = this.#access.engine;
    this.#access.close();
    try {
      await this.#queue.idle();
      await durability.flush();
    } finally {
      try {
        await checkpoints.close();
        release();
      } finally {
        this.#isClosed = true;
        changes.notify();
      }
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  #append(drafts: readonly AnyDraft[], options: AppendOptions): Promise<readonly AppendResult[]> {
    const request = requestOf(this.#access.open().appender, drafts, options);
    return this.#queue.append(request, options.signal);
  }
}
