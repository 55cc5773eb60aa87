/**
 * A session without promises, over ports of a test's choice: one call runs to its end, so that a
 * test knows which file-system calls belong to it. Reads, appends and checkpoints are those of the
 * engine; its leaf follows the tail until it is moved.
 */
import type {
  AppendResult,
  Diagnostic,
  PathContext,
  SessionEntry,
  SessionHeader,
  TreeView,
} from "@branchlog/core";
import { Engine } from "@branchlog/core/engine";
import type { EngineOptions, Recovery } from "@branchlog/core/types";
import { LeafCursor } from "../../packages/core/src/append/leaf-cursor.ts";
import { tipRows } from "../../packages/core/src/index-table/tree-walk.ts";
import { treeView } from "../../packages/core/src/projections/tree.ts";
import { recoverLog } from "../../packages/core/src/session/recovery.ts";
import { appendSync } from "./engine-appends.ts";
import type { Offer } from "./engine-appends.ts";

export class BlockingSession {
  readonly #engine: Engine;
  readonly #leaf: LeafCursor;

  private constructor(engine: Engine) {
    this.#engine = engine;
    this.#leaf = new LeafCursor(true, engine.tailId);
  }

  /** Opens a log; throws as `openSession`. */
  static open(path: string, options: EngineOptions = {}): BlockingSession {
    return new BlockingSession(Engine.openSync(path, options));
  }

  /** Creates a log with a header; throws as `createSession`. */
  static create(path: string, header: SessionHeader, options: EngineOptions = {}): BlockingSession {
    return new BlockingSession(Engine.createSync(path, header, options));
  }

  get header(): SessionHeader {
    return this.#engine.header;
  }

  /** The id that the next entry is appended below, or null. */
  get leaf(): string | null {
    return this.#leaf.id;
  }

  /** The id of the last readable entry, or null. */
  get tail(): string | null {
    return this.#engine.tailId;
  }

  get name(): string | undefined {
    return this.#engine.log.state.name;
  }

  /** Entries in this generation of the log, damaged ones included. */
  get revision(): number {
    return this.#engine.log.state.revision;
  }

  get diagnostics(): readonly Diagnostic[] {
    return this.#engine.diagnostics;
  }

  /** The readable entries by the offset of their lines, in file order, hidden ones included. */
  entriesByOffset(): Map<number, SessionEntry> {
    const { index, bodies } = this.#engine;
    const rows = Array.from({ length: index.count }, (_, row) => row);
    const read = [...bodies.entriesSync(rows)];
    return new Map(read.map(({ row, entry }) => [index.rows.offset(row), entry]));
  }

  /** The readable entries in file order, hidden ones included. */
  entries(): SessionEntry[] {
    return [...this.entriesByOffset().values()];
  }

  /** The entry with that id, or undefined. */
  entry(id: string): SessionEntry | undefined {
    return this.#engine.entrySync(id);
  }

  /** Whether the index knows the id; the line of the entry is not read. */
  has(id: string): boolean {
    return this.#engine.index.rowOfId(id) >= 0;
  }

  /** The parent of an entry as stored; undefined if there is no such entry. */
  parentOf(id: string): string | null | undefined {
    const { index } = this.#engine;
    const row = index.rowOfId(id);
    return row < 0 ? undefined : index.parentIdOf(row);
  }

  /** The ids from the root to an entry. */
  pathIds(id: string): string[] {
    const view = this.#engine.pathView(id);
    return Array.from({ length: view.length }, (_, i) => view.id(i));
  }

  /** The ids of the entries without children. */
  tips(): string[] {
    const { index } = this.#engine;
    return tipRows(index).map((row) => index.idOf(row));
  }

  tree(): TreeView {
    return treeView(this.#engine.index);
  }

  /** The context at an entry. */
  context(id: string | null, bridgeGaps = false): PathContext {
    return this.#engine.context(id, { bridgeGaps });
  }

  /** Makes an entry the leaf, which stays there until the next append. */
  moveTo(id: string | null): void {
    this.#leaf.pin(id);
  }

  /** Appends as one write, each the parent of the next; throws as `Session.appendAll`. */
  append(...offers: readonly Offer[]): readonly AppendResult[] {
    return appendSync(this.#engine, offers, this.#leaf);
  }

  /** Reads what other writers appended. */
  refresh(): void {
    this.#engine.refreshSync();
  }

  /** As `Session.recover`. */
  recover(): Promise<Recovery> {
    return recoverLog(this.#engine);
  }

  /** All that a session answers at its leaf, as text to compare. */
  meaning(): string {
    const { log } = this.#engine;
    return JSON.stringify({
      leaf: this.leaf,
      tail: this.tail,
      generation: log.generation,
      revision: this.revision,
      entries: this.entries(),
      tips: this.tips(),
      context: this.context(this.leaf),
      name: log.state.folded.name,
      labels: [...log.state.folded.labels],
    });
  }
}
