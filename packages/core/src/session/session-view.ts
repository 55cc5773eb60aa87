/** The read-only view of a session: its tree, bodies, contexts and totals. */
import { itemsOf } from "@branchlog/streaming";
import type { JsonValue } from "@branchlog/streaming";
import type { LeafCursor } from "../append/leaf-cursor.ts";
import { requireList, requireOptions } from "../argument-checks.ts";
import type { RowBody } from "../bodies/body-reader.ts";
import type { DialectName } from "../dialects/dialect.ts";
import { answerKey } from "../entries/answers.ts";
import type { SessionEntry, SessionHeader } from "../entries/entry-types.ts";
import { requireEntryId } from "../entries/identifiers.ts";
import type { Diagnostic } from "../index-table/diagnostics.ts";
import { tipRows } from "../index-table/tree-walk.ts";
import { checkLinks } from "../log/findings.ts";
import type { DivergedEntry } from "../log/findings.ts";
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
import {
  entryLines,
  openBodyStream,
  pickFromBody,
  queryNames,
  rowOfEntry,
  rowsOf,
} from "./entry-query.ts";
import type { BodyPart, EntryLine, EntryQuery } from "./entry-query.ts";
import { ContextMemo } from "./path-fold.ts";
import { readOfOneLog } from "./same-log.ts";
import type { EngineAccess } from "./watched-session.ts";

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

  /** The agent that alone writes it; undefined for a session, which Branchlog writes, too. */
  get transcriptOf(): string | undefined {
    return this.#access.engine.log.owner?.agent;
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
    return this.#summaryOfMessages();
  }

  /** An answer stored block by block is one message. */
  async #summaryOfMessages(): Promise<SessionSummary> {
    const folded = await this.#summary.value();
    const { index, log } = this.#access.engine;
    let messageCount = folded.messageCount;
    if (log.state.indexer.transcript === undefined) return folded;
    for (let row = 0; row < log.state.revision; row += 1) {
      const { type, customType } = index.kindOf(row);
      if (type === "message" && customType === answerKey) messageCount -= 1;
    }
    return { ...folded, messageCount };
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

  /** The first entries of unintended branches, in file order; see `Divergence`. */
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
