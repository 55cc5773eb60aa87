/**
 * What an open session can be asked: its log, its tree, and what follows from them at its leaf.
 * What the index answers is synchronous; what needs bodies is asynchronous and read when it is
 * asked for. Nothing here changes the log or moves the leaf.
 */
import { itemsOf } from "@branchlog/streaming";
import type { JsonValue } from "@branchlog/streaming";
import type { LeafCursor } from "../append/leaf-cursor.ts";
import { requireList, requireOptions } from "../argument-checks.ts";
import type { RowBody } from "../bodies/body-reader.ts";
import type { DialectName } from "../dialects/dialect.ts";
import type { SessionEntry, SessionHeader } from "../entries/entry-types.ts";
import { requireEntryId } from "../entries/identifiers.ts";
import { BranchlogError } from "../errors.ts";
import type { Diagnostic } from "../index-table/diagnostics.ts";
import type { DivergedEntry } from "../index-table/link-check.ts";
import { pathToRow, tipRows } from "../index-table/tree-walk.ts";
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
import { contextAt, contextNames } from "./context-load.ts";
import type { ContextOptions } from "./context-load.ts";
import { ContextMemo } from "./context-memo.ts";
import type { Engine } from "./engine.ts";
import { entryLines, openBodyStream, pickFromBody, queryNames, rowsOf } from "./entry-query.ts";
import type { BodyPart, EntryLine, EntryQuery } from "./entry-query.ts";
import { checkLinks } from "./link-findings.ts";
import { rowOfEntry } from "./named-entry.ts";
import { readOfOneLog } from "./same-log.ts";

/**
 * The part of a session that only reads. An id that is no string is `ERR_INVALID_ARGUMENT`
 * everywhere; one that the log does not hold is no error unless a method says so.
 */
export class SessionView {
  readonly #access: EngineAccess;
  readonly #leaf: LeafCursor;
  readonly #memo = new ContextMemo();
  readonly #usage: BodyFold<SessionUsage>;
  readonly #summary: BodyFold<SessionSummary>;

  /** @internal Part of a session. */
  constructor(access: EngineAccess, leaf: LeafCursor) {
    this.#access = access;
    this.#leaf = leaf;
    this.#usage = usageFold(access.engine);
    this.#summary = new BodyFold(access.engine, summary);
  }

  /** Canonical path of the log. */
  get path(): string {
    return this.#access.engine.path;
  }

  /** The dialect of appended entries; stored ones may have another. */
  get dialect(): DialectName {
    return this.#access.engine.appender.dialect;
  }

  /** The header as stored. */
  get header(): SessionHeader {
    return this.#access.engine.header;
  }

  /** Entries in this generation of the log. */
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

  /** The name of the session, or undefined. */
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

  /**
   * Token and cost totals of the whole log. One pass over the bodies of messages, on first demand:
   * what a checkpoint covers is not read again.
   */
  get usage(): Promise<SessionUsage> {
    return this.#usage.value();
  }

  /** Message count, first message and last activity. One pass over bodies on first demand. */
  get summary(): Promise<SessionSummary> {
    return this.#summary.value();
  }

  /** What was found wrong with the log while reading it. */
  get diagnostics(): readonly Diagnostic[] {
    return this.#access.engine.diagnostics;
  }

  /** @internal For what is made of a session: what work reads, if it is all of one log. */
  readOfOneLog<T>(work: () => Promise<T>): Promise<T> {
    return readOfOneLog(this.#access.open(), work);
  }

  /** The entry with that id, or undefined. It is shared: it must not be changed. */
  async entry(id: string): Promise<SessionEntry | undefined> {
    const engine = this.#access.open();
    const row = rowOfEntry(engine, id);
    return row < 0 ? undefined : engine.bodies.entry(row);
  }

  /** Entries as the query says; bodies are read during the iteration. */
  entries(query: EntryQuery = {}): AsyncGenerator<SessionEntry> {
    return itemsOf(this.#entryBatches(query), requireOptions(query, queryNames).signal);
  }

  /**
   * The same entries as the bytes of their lines, which no parser has touched: number forms,
   * escapes, repeated keys and invalid UTF-8 are as they are stored. Of an older log they are what
   * its migration would write.
   */
  async *lines(query: EntryQuery = {}): AsyncGenerator<EntryLine> {
    yield* entryLines(this.#access.open(), requireOptions(query, queryNames), this.#leaf.id);
  }

  /** The entries from the root to an entry (default: the leaf). Empty for an unknown id. */
  async branch(id: string | null = this.#leaf.id): Promise<SessionEntry[]> {
    const engine = this.#access.open();
    const row = id === null ? -1 : rowOfEntry(engine, id);
    return this.#read(pathToRow(engine.index, row).rows);
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

  /**
   * The branches that nobody chose: their first entries, whose session did not know that other
   * writers had continued from its leaf, in file order. Only of entries that Branchlog appended.
   * Reads the bodies of entries that are not the first below their parent, or refer to others.
   */
  async divergences(): Promise<DivergedEntry[]> {
    return (await checkLinks(this.#access.open())).divergences();
  }

  /** The whole tree as it is now, as envelopes. */
  tree(): TreeView {
    return treeView(this.#access.open().index);
  }

  /** The label of an entry, or undefined. */
  label(id: string): Label | undefined {
    return this.#access.open().log.state.folded.labels.get(requireEntryId(id));
  }

  /**
   * What the model gets at the leaf, or at another entry. If an entry's parent is missing, the
   * context says so (`truncatedAt`); with `bridgeGaps` it continues at the entry before, in file
   * order. The context at the leaf is kept, and the next one costs what was added: the list is the
   * caller's, the messages in it are shared.
   * @throws BranchlogError `ERR_ENTRY_NOT_FOUND`.
   */
  async context(options: ContextOptions = {}): Promise<PathContext> {
    const engine = this.#access.open();
    const { at, bridgeGaps = false } = requireOptions(options, contextNames);
    if (at === undefined && !bridgeGaps) return this.#memo.pathContextAt(engine, this.#leaf.id);
    return contextAt(engine, at === undefined ? this.#leaf.id : at, bridgeGaps);
  }

  /**
   * The tokens of an entry's JSON as it is stored, in bounded memory, whatever its size.
   * @throws BranchlogError while it is read: `ERR_ENTRY_NOT_FOUND`, `ERR_ENTRY_DAMAGED`.
   */
  bodyStream(id: string, signal?: AbortSignal): BodyPart {
    return openBodyStream(this.#access.open(), id, signal);
  }

  /**
   * One value inside an entry as it is stored, without building the rest of it.
   * @throws BranchlogError `ERR_ENTRY_NOT_FOUND`, `ERR_ENTRY_DAMAGED`, `ERR_ENTRY_TOO_LARGE`.
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

  async #read(rows: Int32Array): Promise<SessionEntry[]> {
    const entries: SessionEntry[] = [];
    for await (const { entry } of this.#access.open().bodies.entries(rows)) entries.push(entry);
    return entries;
  }
}

function* entriesIn(bodies: Iterable<RowBody>): Generator<SessionEntry> {
  for (const { entry } of bodies) yield entry;
}

/**
 * The engine of one session, until the session is closed: after that only what is watched is read,
 * a last time.
 */
export class EngineAccess {
  /** For what may be read after the close, too. */
  readonly engine: Engine;
  #isClosed = false;

  constructor(engine: Engine) {
    this.engine = engine;
  }

  /**
   * The engine, for use.
   * @throws BranchlogError `ERR_CLOSED`.
   */
  open(): Engine {
    if (!this.#isClosed) return this.engine;
    throw sessionClosed(this.engine.path);
  }

  /** Answers all the same while `read` runs: what is watched is read a last time at the end. */
  reading<T>(read: () => T): T {
    const wasClosed = this.#isClosed;
    this.#isClosed = false;
    try {
      return read();
    } finally {
      this.#isClosed = wasClosed;
    }
  }

  /** Refuses further use. */
  close(): void {
    this.#isClosed = true;
  }
}

/** The error for the use of a session that was closed. */
export function sessionClosed(path: string): BranchlogError {
  const message = `The session ${path} was closed. Open it again.`;
  return new BranchlogError("ERR_CLOSED", message, { path });
}
