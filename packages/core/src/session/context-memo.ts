/**
 * Keeps the context at a leaf, so that the one after a few more entries costs what they cost, not
 * what the conversation costs. It holds the messages of one context, unless they are more than it
 * may keep. What it gives always equals what the context builder gives anew.
 */
import type { SessionEntry } from "../entries/entry-types.ts";
import type { AgentMessage } from "../entries/message-types.ts";
import { parentOfRow } from "../index-table/tree-walk.ts";
import { entryMessages } from "../projections/context-messages.ts";
import { canSpeak } from "../projections/context.ts";
import type { PathContext, SessionContext } from "../projections/context.ts";
import { settingsAfter } from "../projections/settings.ts";
import type { PathSettings, SettingsState } from "../projections/settings.ts";
import { loadedContext, loadedContextSync } from "./context-load.ts";
import type { LoadedContext } from "./context-load.ts";
import type { Engine } from "./engine.ts";
import type { LogState } from "../log/log-state.ts";

/** Entries above a leaf that are always looked at for the kept one; more if more is kept. */
const stepsAlways = 1_000;

/** A context and what it was built from. */
interface KeptContext {
  readonly state: LogState;
  /** While the index says the same, the path is what it was. */
  readonly structureVersion: number;
  /** The handle of the id at which the path breaks off, or -1. */
  readonly missingHandle: number;
  readonly leafRow: number;
  /** Shared with the contexts that go on from it: the first `count` are of this one. */
  readonly messages: AgentMessage[];
  readonly count: number;
  readonly settings: SettingsState;
  readonly bytes: number;
  /** Whether no other context goes on from it: one of a cycle, or of no entry. */
  readonly isDeadEnd: boolean;
}

/** A context as it is kept: its array only grows, and that of another context is another one. */
export interface GrowingContext {
  /** The first `count` are the messages of this context. */
  readonly messages: readonly AgentMessage[];
  readonly count: number;
  readonly settings: PathSettings;
  /** As in `PathContext`. */
  readonly truncatedAt: string | undefined;
}

/** See the file comment. */
export class ContextMemo {
  readonly #bytesMax: number | undefined;
  #kept: KeptContext | undefined;

  /** @param bytesMax Longest context that is kept, in bytes. Default: the cache for bodies. */
  constructor(bytesMax?: number) {
    this.#bytesMax = bytesMax;
  }

  /** The context at an entry, or before the first one for null. The array is the caller's. */
  contextAt(engine: Engine, leafId: string | null): SessionContext {
    const row = rowOf(engine, leafId);
    const known = this.#extended(engine, row);
    return ownContext(known ?? this.#keep(engine, rebuilt(row, loadedContextSync(engine, leafId))));
  }

  /** As {@link ContextMemo.growingAt}; the array is the caller's. */
  async pathContextAt(engine: Engine, leafId: string | null): Promise<PathContext> {
    const context = await this.#found(engine, leafId);
    const truncatedAt = truncationOf(context);
    const own = ownContext(context);
    return truncatedAt === undefined ? own : { ...own, truncatedAt };
  }

  /**
   * The context at an entry, or before the first one for null, without copying what is kept. Reads
   * the few bodies that were added since blocking, a whole context without.
   * @throws BranchlogError `ERR_ENTRY_NOT_FOUND`.
   */
  async growingAt(engine: Engine, leafId: string | null): Promise<GrowingContext> {
    const context = await this.#found(engine, leafId);
    const { messages, count, settings } = context;
    return { messages, count, settings, truncatedAt: truncationOf(context) };
  }

  async #found(engine: Engine, leafId: string | null): Promise<KeptContext> {
    const known = this.#extended(engine, rowOf(engine, leafId));
    if (known !== null) return known;
    const loaded = await loadedContext(engine, leafId, false);
    const row = leafId === null ? -1 : loaded.state.index.rowOfId(leafId);
    return this.#keep(engine, rebuilt(row, loaded));
  }

  #extended(engine: Engine, row: number): KeptContext | null {
    const kept = this.#kept;
    const rows = kept === undefined ? null : rowsAfter(engine, kept, row);
    const context = kept === undefined || rows === null ? null : extended(engine, kept, rows);
    return context === null ? null : this.#keep(engine, context);
  }

  #keep(engine: Engine, context: KeptContext): KeptContext {
    const bytesMax = this.#bytesMax ?? engine.settings.bodyCacheBytesMax;
    const isKept = !context.isDeadEnd && context.bytes <= bytesMax;
    this.#kept = isKept ? context : undefined;
    return context;
  }
}

/** The context with an array that does not grow. */
function ownContext({ messages, count, settings }: KeptContext): SessionContext {
  const { thinkingLevel, model } = settings;
  return {
    messages: messages.slice(0, count),
    thinkingLevel,
    model: model === null ? null : { ...model },
  };
}

function truncationOf({ missingHandle, state }: KeptContext): string | undefined {
  return missingHandle < 0 ? undefined : state.index.ids.idAt(missingHandle);
}

function rowOf({ index }: Engine, id: string | null): number {
  return id === null ? -1 : index.rowOfId(id);
}

function rebuilt(
  row: number,
  { context, settings, path, loaded, state, structureVersion }: LoadedContext,
): KeptContext {
  const { messages } = context;
  const { index } = state;
  let bytes = 0;
  for (const one of loaded.keys()) bytes += index.rows.length(one);
  const { missingParentId, cyclic } = path;
  return {
    state,
    structureVersion,
    missingHandle: missingParentId === null ? -1 : index.ids.find(missingParentId),
    leafRow: row,
    messages,
    count: messages.length,
    settings,
    bytes,
    isDeadEnd: row < 0 || cyclic,
  };
}

/** The rows that follow the kept leaf down to `row`; null if `row` is not below it, or far. */
function rowsAfter(engine: Engine, kept: KeptContext, row: number): number[] | null {
  const { index } = engine;
  if (kept.state !== engine.log.state || kept.structureVersion !== index.structureVersion)
    return null;
  // Going on for longer than the kept context is long would cost more than building it anew.
  const stepsMax = Math.max(stepsAlways, kept.messages.length);
  const rows: number[] = [];
  for (let at = row; at !== kept.leafRow; at = parentOfRow(index, at)) {
    if (at < 0 || rows.length === stepsMax || !prolongs(index.kindOf(at).type)) return null;
    rows.push(at);
  }
  return rows.reverse();
}

/** Whether an entry of that type only adds to the end of a context. */
function prolongs(type: string): boolean {
  return type !== "compaction" && type !== "context_edit" && type !== "reset_boundary";
}

/** The kept context with what the rows add; null if one of them is damaged or too large. */
function extended(engine: Engine, kept: KeptContext, rows: readonly number[]): KeptContext | null {
  const { index, bodies, findings } = engine;
  const entries: SessionEntry[] = [];
  let { bytes, settings } = kept;
  for (const row of rows) {
    const { type } = index.kindOf(row);
    if (!canSpeak(type, 1) && !isSetting(type)) continue;
    const entry = bodies.isBuildable(row) ? bodies.entrySync(row) : undefined;
    if (entry === undefined) return null;
    entries.push(entry);
    bytes += index.rows.length(row);
    settings = settingsAfter(settings, entry);
  }
  // All bodies are there: from here on nothing fails halfway.
  for (const entry of entries) {
    const own = entryMessages(entry, (problem) => findings.addMalformed(problem));
    kept.messages.push(...own);
  }
  const leafRow = rows.at(-1) ?? kept.leafRow;
  return { ...kept, leafRow, count: kept.messages.length, settings, bytes };
}

function isSetting(type: string): boolean {
  return type === "model_change" || type === "thinking_level_change";
}
