/**
 * One open session as the page sees it: rows in the order of the file with their lanes, entries,
 * contexts. The index of the engine answers; bodies are read for what is shown.
 */
import { openSession, BranchlogError } from "@branchlog/core";
import type { Session, OpenStoredOptions } from "@branchlog/core";
import type { SessionEntry } from "@branchlog/core/entries";
import { live } from "@branchlog/core/live";
import { openedFindings } from "@branchlog/tools";
import { descriptorPoolOf } from "@branchlog/core/files";
import { parentFinder } from "@branchlog/core/rows";
import { Conversation, SideTexts, answeringModel, shownUsage } from "@branchlog/library/catalogs";
import type { PlacedEntry } from "@branchlog/library/catalogs";
import { estimateOf } from "@branchlog/tools";
import { watchedSession } from "@branchlog/core/engine";
import type {
  ContextView,
  EntryPlace,
  EntryView,
  Row,
  RowPage,
  SessionFacts,
  TreeFacts,
  TurnBlock,
} from "./api.ts";
import {
  answeredIdOf,
  callIdsOf,
  contextMessage,
  entryBlocks,
  gistOf,
  isErrorEntry,
  messageUsage,
  shortened,
  shownUnitsMax,
  toolsOf,
} from "./blocks.ts";
import { Lanes } from "./lanes.ts";

/** Of one answer. */
const rowsMax = 500;
const branchRowsMax = 1000;
const answerRowsMax = 200;
const answerRowsStep = 8;
const sumsDelayMs = 300;
/** Messages of a context that the page gets; the first ones are counted only. */
const contextMessagesMax = 2000;

interface LeafPath {
  readonly leaf: number;
  /** Rows of the session when it was found. */
  readonly count: number;
  readonly rows: Int32Array;
}

const noPath: LeafPath = { leaf: -1, count: -1, rows: new Int32Array(0) };

export type ShownFacts = Omit<SessionFacts, "item" | "canWrite" | "resume">;

export class ShownSession {
  readonly session: Session;
  readonly conversation: Conversation;
  #generation = -1;
  /** Of the rows that were drawn; a conversation needs none. */
  #lanes = new Lanes();
  /** The rows from the root to the leaf, ascending. */
  #path: LeafPath = noPath;
  /** What takes a pass over the bodies, once it is known; see {@link ShownSession.facts}. */
  #sums: Pick<SessionFacts, "usage" | "findings"> = { usage: null, findings: [] };
  #sumsRow = -1;
  readonly #tellers = new Set<() => void>();

  private constructor(session: Session) {
    this.session = session;
    this.conversation = new Conversation(this, estimateOf);
  }

  /** Rejects as `openSession`. */
  static async open(place: string | OpenStoredOptions): Promise<ShownSession> {
    const session =
      typeof place === "string"
        ? await openSession(place, { access: "read", checkpoint: "read" })
        : await openSession({ ...place, access: "read" });
    return new ShownSession(session);
  }

  async close(): Promise<void> {
    await this.session.close();
  }

  /** Calls back after each change, until it is ended. The file is watched meanwhile. */
  watch(onChange: () => void, onEnd: (error: unknown) => void): () => void {
    const views = live(this.session);
    const observer = { next: onChange, error: onEnd, complete: () => onEnd(undefined) };
    this.#tellers.add(onChange);
    const subscriptions = [
      views.tree$.subscribe(observer),
      views.labels$.subscribe({ next: onChange, error: () => undefined }),
      views.name$.subscribe({ next: onChange, error: () => undefined }),
    ];
    return () => {
      this.#tellers.delete(onChange);
      for (const subscription of subscriptions) subscription.unsubscribe();
    };
  }

  /** Whether its file is gone, or another one has its name, as the disk says now. */
  get isReplaced(): boolean {
    const { file } = watchedSession(this.session).engine.log;
    const stat = file.statSync();
    return stat === null || !file.isAt(stat);
  }

  get #index(): ReturnType<typeof watchedSession>["engine"]["index"] {
    return watchedSession(this.session).engine.index;
  }

  /** Forgets what was known of a file that was replaced. */
  #update(): ReturnType<typeof watchedSession>["engine"]["index"] {
    const { engine } = watchedSession(this.session);
    const { index } = engine;
    const { generation } = engine.log;
    if (generation !== this.#generation) {
      // Nothing reads the former file any more; the present one is opened by its next read.
      if (this.#generation >= 0) {
        descriptorPoolOf(engine.settings.ports.fs).closePath(engine.log.file.path);
      }
      this.#generation = generation;
      this.#lanes = new Lanes();
      this.#path = noPath;
      this.#sumsRow = -1;
    }
    return index;
  }

  /** Of all rows; O(new rows). */
  #drawnLanes(): Lanes {
    const index = this.#update();
    const parentOf = parentFinder(index);
    const known = this.#lanes.rowCount;
    this.#lanes.reserve(index.count);
    for (let row = known; row < index.count; row += 1) {
      this.#lanes.add(index.isNode(row) ? parentOf(row) : -1);
      // Children that waited for it are roots so far.
      if (known > 0 && index.isNode(row)) this.#joinAbove(row, known);
    }
    return this.#lanes;
  }

  /** @param known Rows from there on find their parents themselves. */
  #joinAbove(row: number, known: number): void {
    for (const { revision } of this.session.children(this.#index.idOf(row))) {
      if (revision - 1 < Math.min(row, known)) this.#lanes.join(revision - 1, row);
    }
  }

  #rowOf(id: string | null): number {
    return id === null ? -1 : this.#index.rowOfId(id);
  }

  get generation(): number {
    this.#update();
    return this.#generation;
  }

  get rowCount(): number {
    return this.#update().count;
  }

  /**
   * From the index. Sums, findings and, unless it is asked for, the tree are those of before until
   * they are known, which is reported.
   */
  facts({ hasTree = false }: { readonly hasTree?: boolean } = {}): ShownFacts {
    const rowCount = this.#update().count;
    if (this.#sumsRow !== rowCount) this.#sumUpSoon();
    const { session } = this;
    const leafRow = this.#rowOf(session.leaf);
    const labels = [...session.labels].flatMap(([id, { label }]) => {
      const row = this.#rowOf(id);
      return row < 0 ? [] : [{ row, id, label }];
    });
    return {
      generation: this.#generation,
      rowCount,
      leafId: session.leaf,
      leafRow: leafRow < 0 ? null : leafRow,
      labels,
      tree: hasTree || this.#lanes.rowCount > 0 ? this.#tree() : null,
      ...this.#sums,
    };
  }

  #tree(): TreeFacts {
    const lanes = this.#drawnLanes();
    const { tipCount, laneCount } = lanes;
    return { tipCount, laneCount, branchRows: lanes.branchRows(branchRowsMax) };
  }

  /** What is asked for first does not wait for a pass over all bodies. */
  #sumUpSoon(): void {
    this.#sumsRow = this.#index.count;
    setTimeout(() => void this.sumUp(), sumsDelayMs).unref();
  }

  /** Reads what {@link ShownSession.facts} then has of the bodies. */
  async sumUp(): Promise<void> {
    this.#sumsRow = this.rowCount;
    try {
      const { total } = await this.session.usage;
      const findings = await openedFindings(this.session);
      this.#drawnLanes();
      const texts = findings.map(({ kind, count }) => `${kind}: ${count}`);
      this.#sums = { usage: shownUsage(total), findings: texts };
    } catch {
      // It was closed, or cannot be read: its watchers are notified.
      return;
    }
    this.onSummed();
  }

  readonly onSummed = (): void => {
    for (const tell of this.#tellers) tell();
  };

  /** Whether a row is on the path from the root to the leaf. */
  isOnPath(row: number): boolean {
    return hasSorted(this.path(), row);
  }

  /** The rows from the root to the leaf, ascending. */
  path(): Int32Array {
    const index = this.#update();
    const leaf = this.#rowOf(this.session.leaf);
    const { leaf: former, count, rows } = this.#path;
    // A parent that comes late makes a path longer at its root.
    if (leaf === former && count === index.count) return rows;
    const { engine } = watchedSession(this.session);
    const found = engine.rowPath(this.session.leaf).rows;
    const ascending = isAscending(found) ? found : found.toSorted();
    this.#path = { leaf, count: index.count, rows: ascending };
    return this.#path.rows;
  }

  /** At most 500. */
  async rows(from: number, count: number): Promise<RowPage> {
    const lanes = this.#drawnLanes();
    const first = Math.max(0, Math.min(from, lanes.rowCount));
    const end = Math.min(lanes.rowCount, first + Math.min(count, rowsMax));
    const bodies = await this.#bodies(first, end);
    const rows: Row[] = [];
    for (let row = first; row < end; row += 1) rows.push(this.#row(row, bodies.get(row)));
    return { generation: this.#generation, rowCount: lanes.rowCount, from: first, rows };
  }

  async #bodies(from: number, to: number): Promise<ReadonlyMap<number, SessionEntry>> {
    const { bodies } = watchedSession(this.session).engine;
    const index = this.#index;
    const read = new Map<number, SessionEntry>();
    // A later entry may have the same id.
    const rows = Array.from({ length: Math.max(0, to - from) }, (_, at) => from + at);
    const found = rows.filter((row) => index.rowOfId(index.idOf(row)) === row);
    for await (const { row, entry } of bodies.entries(found)) read.set(row, entry);
    return read;
  }

  /** In place of an entry that cannot be asked for by its id; empty: it is damaged. */
  #absentText(row: number): string {
    const index = this.#index;
    return index.rowOfId(index.idOf(row)) > row ? "(a later entry has the same id)" : "";
  }

  #row(row: number, entry: SessionEntry | undefined): Row {
    const index = this.#index;
    const { type, role } = index.kindOf(row);
    const id = index.idOf(row);
    return {
      row,
      id,
      type,
      role: type === "message" ? (role ?? null) : null,
      timeMs: index.rows.time(row),
      label: this.session.label(id)?.label ?? null,
      text: entry === undefined ? this.#absentText(row) : gistOf(entry),
      tools: toolsOf(entry),
      isLeaf: id === this.session.leaf && index.rowOfId(id) === row,
      isOnPath: this.isOnPath(row),
      isError: isErrorEntry(entry),
      isDamaged: entry === undefined && this.#absentText(row) === "",
      lanes: this.#lanes.at(row),
    };
  }

  /** Throws `ERR_ENTRY_NOT_FOUND`. */
  place({ id, label }: { readonly id?: string; readonly label?: string }): EntryPlace {
    const labelled = [...this.session.labels].find(([, one]) => one.label === label);
    const wanted = id ?? labelled?.[0] ?? (label === undefined ? this.session.leaf : null);
    const row = this.#rowOf(wanted);
    if (wanted === null || row < 0) throw this.#noEntry(id ?? label ?? "leaf");
    return { row, id: wanted };
  }

  #noEntry(what: string): BranchlogError {
    const { path } = this.session;
    const message = `There is no entry ${what} in ${path}. It may be in a later version of it.`;
    return new BranchlogError("ERR_ENTRY_NOT_FOUND", message, { path, id: what });
  }

  /** Throws `ERR_ENTRY_NOT_FOUND`. */
  async entry(row: number, isFull: boolean): Promise<EntryView> {
    if (row < 0 || row >= this.#drawnLanes().rowCount) throw this.#noEntry(`at row ${row}`);
    const index = this.#index;
    const id = index.idOf(row);
    const entry = index.rowOfId(id) === row ? await this.session.entry(id) : undefined;
    const unitsMax = isFull ? Infinity : shownUnitsMax;
    const raw = shortened(
      entry === undefined ? this.#absentText(row) : storedLine(entry),
      unitsMax,
    );
    const parentRow = this.#lanes.parentOf(row);
    const blocks = entry === undefined ? [] : await this.#blocks(row, entry, isFull);
    const children = index.isNode(row) ? this.session.children(id) : [];
    return {
      row: this.#row(row, entry),
      parentId: index.parentIdOf(row),
      parentRow: parentRow < 0 ? null : parentRow,
      childRows: children.map(({ revision }) => revision - 1),
      model: answeringModel(entry) || null,
      usage: messageUsage(entry),
      blocks,
      raw: raw.text,
      isCut: raw.cut > 0 || blocks.some(isCutBlock),
    };
  }

  /** Results are close to their calls: they are searched for among so many rows. */
  async #blocks(row: number, entry: SessionEntry, isFull: boolean): Promise<TurnBlock[]> {
    const sides = new SideTexts(this.session.path, this.session.transcriptOf);
    const results: PlacedEntry[] = [];
    const open = new Set(callIdsOf(entry));
    const end = Math.min(this.rowCount, row + 1 + answerRowsMax);
    for (let from = row + 1; from < end && open.size > 0; from += answerRowsStep) {
      for (const [at, other] of await this.#bodies(from, Math.min(end, from + answerRowsStep))) {
        const { type, role } = this.#index.kindOf(at);
        const timeMs = this.#index.rows.time(at);
        results.push({ row: at, timeMs, type, role, entry: sides.inWhole(other) });
        open.delete(answeredIdOf(other) ?? "");
      }
    }
    return entryBlocks(row, sides.inWhole(entry), { results, isFull });
  }

  /** Throws `ERR_ENTRY_NOT_FOUND`. */
  async context(row: number | null): Promise<ContextView> {
    const at = row === null ? this.session.leaf : this.#idAt(row);
    const context = await this.session.context(row === null ? {} : { at });
    const { messages, model, thinkingLevel, approximate, truncatedAt } = context;
    const shown = messages.slice(-contextMessagesMax);
    return {
      row: at === null ? null : this.#rowOf(at),
      messages: shown.map((message) => contextMessage(message)),
      model: model === null ? null : `${model.provider}/${model.modelId}`,
      thinkingLevel,
      isApproximate: approximate === true || truncatedAt !== undefined,
    };
  }

  #idAt(row: number): string {
    const index = this.#index;
    if (row < 0 || row >= index.count) throw this.#noEntry(`at row ${row}`);
    return index.idOf(row);
  }
}

function isAscending(rows: Int32Array): boolean {
  return rows.every((row, place) => place === 0 || row > (rows[place - 1] ?? row));
}

function hasSorted(rows: Int32Array, wanted: number): boolean {
  let [low, high] = [0, rows.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((rows[middle] ?? 0) < wanted) low = middle + 1;
    else high = middle;
  }
  return rows[low] === wanted;
}

function storedLine(entry: SessionEntry): string {
  try {
    return JSON.stringify(entry);
  } catch {
    return "(This entry is nested too deeply to be shown.)";
  }
}

function isCutBlock(block: TurnBlock): boolean {
  if (block.kind === "call") return (block.result?.cut ?? 0) > 0;
  return "cut" in block && block.cut > 0;
}
