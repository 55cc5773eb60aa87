/**
 * A session: one open log and a leaf in it. What the index answers is synchronous; what needs
 * bodies is asynchronous. Appends of one session happen in the order of their calls; the promise of
 * an append resolves once its bytes are in the log. Nothing read from it can change the log.
 */
import type { JsonValue } from "@branchlog/streaming";
import type { EntryDraft } from "../entries/entry-draft.ts";
import type { SessionEntry, SessionHeader } from "../entries/entry-types.ts";
import { BranchlogError } from "../errors.ts";
import type { Diagnostic } from "../index-table/diagnostics.ts";
import { commonAncestorRow, pathToRow, tipRows } from "../index-table/tree-walk.ts";
import type { PathContext } from "../projections/context.ts";
import type { Label, Labels } from "../projections/labels.ts";
import { settingsOfPath } from "../projections/settings.ts";
import type { PathSettings } from "../projections/settings.ts";
import { summary } from "../projections/summary.ts";
import type { SessionSummary } from "../projections/summary.ts";
import { childRows, envelopeOf, treeView } from "../projections/tree.ts";
import type { Envelope, TreeView } from "../projections/tree.ts";
import { usage } from "../projections/usage.ts";
import type { SessionUsage } from "../projections/usage.ts";
import { AppendQueue } from "./append-queue.ts";
import type { AppendResult } from "./append-outcome.ts";
import { requestOf } from "./append-options.ts";
import type { AppendOptions } from "./append-options.ts";
import { BodyFold } from "./body-fold.ts";
import { contextAt, requireEntry } from "./context-load.ts";
import type { ContextOptions } from "./context-load.ts";
import type { Engine } from "./engine.ts";
import { rowsOf } from "./entry-query.ts";
import type { EntryQuery } from "./entry-query.ts";
import { LeafCursor } from "./leaf-cursor.ts";
import { openBodyStream, pickFromBody } from "./large-body.ts";
import type { BodyPart } from "./large-body.ts";
import { recoverLog } from "./recovery.ts";
import type { Recovery } from "./recovery.ts";
import { verifyLog } from "./verify.ts";
import type { VerifyReport } from "./verify.ts";

/** See the file comment. Made by `openSession`, `createSession` and `memorySession`. */
export class Session {
  readonly #engine: Engine;
  readonly #leaf: LeafCursor;
  readonly #queue: AppendQueue;
  readonly #usage: BodyFold<SessionUsage>;
  readonly #summary: BodyFold<SessionSummary>;
  #closed = false;

  /** @internal Sessions are opened, not constructed. */
  constructor(engine: Engine) {
    this.#engine = engine;
    this.#leaf = new LeafCursor(true, engine.tailId);
    this.#queue = new AppendQueue(engine, this.#leaf);
    this.#usage = new BodyFold(engine, usage);
    this.#summary = new BodyFold(engine, summary);
  }

  /** Canonical path of the log. */
  get path(): string {
    return this.#engine.path;
  }

  /** The header as stored. */
  get header(): SessionHeader {
    return this.#engine.header;
  }

  /** Entries in this generation of the log. */
  get revision(): number {
    return this.#engine.log.state.revision;
  }

  /** Length of the log in bytes when it was last looked at. */
  get sizeBytes(): number {
    return this.#engine.log.size;
  }

  /** Where this session stands: the id of an entry, or null before the first. */
  get leaf(): string | null {
    return this.#leaf.id;
  }

  /** The id of the last entry of the log, or null. */
  get tail(): string | null {
    return this.#engine.tailId;
  }

  /** The name of the session, or undefined. */
  get name(): string | undefined {
    return this.#engine.log.state.folded.name;
  }

  /** Labels in force by the id of their target. */
  get labels(): Labels {
    return new Map(this.#engine.log.state.folded.labels);
  }

  /** Model and thinking level at the leaf. May read the body of one entry. */
  get settings(): PathSettings {
    return settingsOfPath(this.#engine.pathView(this.#leaf.id));
  }

  /** Token and cost totals of the whole log. One pass over its bodies on first demand. */
  get usage(): Promise<SessionUsage> {
    return this.#usage.value();
  }

  /** Message count, first message and last activity. One pass over bodies on first demand. */
  get summary(): Promise<SessionSummary> {
    return this.#summary.value();
  }

  /** What was found wrong with the log while reading it. */
  get diagnostics(): readonly Diagnostic[] {
    return this.#engine.diagnostics;
  }

  /**
   * Appends one entry. Resolves once it is in the log.
   * @throws BranchlogError `ERR_UNSERIALIZABLE`, `ERR_INVALID_ARGUMENT`, `ERR_READ_ONLY`,
   * `ERR_CONFLICT`, `ERR_DIVERGED`, `ERR_DUPLICATE_ID`, `ERR_ENTRY_NOT_FOUND`, `ERR_LOCK_TIMEOUT`,
   * `ERR_LOG_GONE`, `ERR_APPEND_FAILED`, `ERR_APPEND_UNCERTAIN`, `ERR_MIGRATION`,
   * `ERR_VERSION_NEWER`, `ERR_CLOSED`, `ERR_QUEUE_FULL`, `ERR_DURABILITY_UNKNOWN`.
   */
  async append(draft: EntryDraft, options: AppendOptions = {}): Promise<AppendResult> {
    const [result] = await this.#append([draft], options);
    if (result === undefined) throw new Error("an append without a result");
    return result;
  }

  /** Appends entries as one write, each the parent of the next; see {@link Session.append}. */
  async appendAll(
    drafts: readonly EntryDraft[],
    options: Omit<AppendOptions, "id"> = {},
  ): Promise<readonly AppendResult[]> {
    return this.#append(drafts, options);
  }

  /** The entry with that id, or undefined. */
  async entry(id: string): Promise<SessionEntry | undefined> {
    const engine = this.#open();
    const row = engine.index.rowOfId(id);
    return row < 0 ? undefined : engine.bodies.entry(row);
  }

  /** Entries as the query says; bodies are read as the iteration goes on. */
  async *entries(query: EntryQuery = {}): AsyncGenerator<SessionEntry> {
    const engine = this.#open();
    const rows = rowsOf(engine, query, this.#leaf.id);
    for await (const { entry } of engine.bodies.entries(rows, query.signal)) yield entry;
  }

  /** The entries from the root to an entry (default: the leaf). Empty for an unknown id. */
  async branch(id: string | null = this.#leaf.id): Promise<SessionEntry[]> {
    const engine = this.#open();
    const row = id === null ? -1 : engine.index.rowOfId(id);
    return this.#read(pathToRow(engine.index, row).rows);
  }

  /** Envelopes of the entries directly below an entry; of the roots for null. */
  children(id: string | null): Envelope[] {
    const { index } = this.#open();
    return childRows(index, id).map((row) => envelopeOf(index, row));
  }

  /** Envelopes of the entries without children, in file order. */
  tips(): Envelope[] {
    const { index } = this.#open();
    return tipRows(index).map((row) => envelopeOf(index, row));
  }

  /** The whole tree as it is now, as envelopes. */
  tree(): TreeView {
    return treeView(this.#open().index);
  }

  /** The label of an entry, or undefined. */
  label(id: string): Label | undefined {
    return this.#open().log.state.folded.labels.get(id);
  }

  /**
   * What the model gets at the leaf, or at another entry. If an entry's parent is missing, the
   * context says so (`truncatedAt`); with `bridgeGaps` it goes on at the entry before, in file
   * order.
   * @throws BranchlogError `ERR_ENTRY_NOT_FOUND`.
   */
  async context(options: ContextOptions = {}): Promise<PathContext> {
    const engine = this.#open();
    const { at = this.#leaf.id, bridgeGaps = false } = options;
    return contextAt(engine, at, bridgeGaps);
  }

  /**
   * Moves the leaf once the appends asked for before are done, in memory only; `persist` appends a
   * `custom` entry there, which other programs that open the log will stand on.
   * @throws BranchlogError `ERR_ENTRY_NOT_FOUND`.
   */
  async moveTo(id: string | null, options: { readonly persist?: boolean } = {}): Promise<void> {
    const engine = this.#open();
    await this.#queue.run(() => {
      if (id !== null) requireEntry(engine, id);
      this.#leaf.pin(id);
      engine.markSeen();
    });
    if (options.persist !== true) return;
    await this.append({ type: "custom", customType: "branchlog.leaf" }, { parent: { id } });
  }

  /** Makes the leaf the last entry of the log, and keeps it there until an append or a move. */
  follow(): void {
    const engine = this.#open();
    this.#leaf.follow(engine.tailId);
    engine.markSeen();
  }

  /** Reads what others appended; a following leaf moves to the new tail. */
  async refresh(): Promise<void> {
    const engine = this.#open();
    await this.#queue.run(() => engine.refreshSync());
    this.#leaf.sawTail(engine.tailId);
    engine.markSeen();
  }

  /** The deepest entry on the paths of both, or null. */
  commonAncestor(a: string, b: string): string | null {
    const { index } = this.#open();
    const row = commonAncestorRow(index, index.rowOfId(a), index.rowOfId(b));
    return row < 0 ? null : index.idOf(row);
  }

  /** The entries that are left behind by going from one entry to another, oldest first. */
  async abandonedPath(from: string, to: string): Promise<SessionEntry[]> {
    const { index } = this.#open();
    const ancestor = commonAncestorRow(index, index.rowOfId(from), index.rowOfId(to));
    const { rows } = pathToRow(index, index.rowOfId(from));
    return this.#read(rows.subarray(rows.indexOf(ancestor) + 1));
  }

  /** The tokens of an entry's JSON as it is stored, in bounded memory, whatever its size. */
  bodyStream(id: string, signal?: AbortSignal): BodyPart {
    return openBodyStream(this.#open(), id, signal);
  }

  /** One value inside an entry as it is stored, without building the rest of it. */
  async pick(
    id: string,
    path: readonly (string | number)[],
    signal?: AbortSignal,
  ): Promise<JsonValue | undefined> {
    return pickFromBody(this.#open(), id, path, signal);
  }

  /** Reads every byte of the log again and reports all damage. Changes nothing. */
  async verify(options: { readonly signal?: AbortSignal } = {}): Promise<VerifyReport> {
    await this.refresh();
    return verifyLog(this.#open(), options.signal);
  }

  /** Writes back a log that is gone, and what a failed sync left in doubt; see `recoverLog`. */
  async recover(): Promise<Recovery> {
    const engine = this.#open();
    return this.#queue.run(() => recoverLog(engine));
  }

  /** Waits until appends under way are as durable as promised, then refuses further use. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.#queue.idle();
    await this.#engine.durability.flush();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  #append(drafts: readonly EntryDraft[], options: AppendOptions): Promise<readonly AppendResult[]> {
    const { ports } = this.#open().settings;
    const request = requestOf(drafts, options, ports.clock.now());
    return this.#queue.append(request, options.signal);
  }

  async #read(rows: Int32Array): Promise<SessionEntry[]> {
    const entries: SessionEntry[] = [];
    for await (const { entry } of this.#open().bodies.entries(rows)) entries.push(entry);
    return entries;
  }

  #open(): Engine {
    if (!this.#closed) return this.#engine;
    const { path } = this.#engine;
    const message = `The session ${path} was closed. Open it again.`;
    throw new BranchlogError("ERR_CLOSED", message, { path });
  }
}
