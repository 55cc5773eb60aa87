/**
 * Keeps the context at a leaf, so that the one after a few more entries costs what they cost, not
 * what the conversation costs. It holds the messages of one context, unless they are more than it
 * may keep. Each result equals what the context builder gives anew.
 */
import type { SessionEntry } from "../entries/entry-types.ts";
import type { AgentMessage } from "../entries/message-types.ts";
import type { LogState } from "../log/log-state.ts";
import { contributesToContext, entryMessages } from "../projections/context.ts";
import type { PathContext, SessionContext } from "../projections/context.ts";
import { settingsAfter } from "../projections/settings.ts";
import type { PathSettings, SettingsState } from "../projections/settings.ts";
import { loadedContext, loadedContextSync } from "./context-load.ts";
import type { LoadedContext } from "./context-load.ts";
import type { Engine } from "./engine.ts";
import { PathFold, rowAt } from "./path-fold.ts";
import type { Onward } from "./path-fold.ts";

/** A context as it is kept: its array only grows, and that of another context is another one. */
export interface GrowingContext {
  /** The first `count` are the messages of this context. */
  readonly messages: readonly AgentMessage[];
  readonly count: number;
  readonly settings: PathSettings;
  /** As in `PathContext`. */
  readonly truncatedAt: string | undefined;
}

/** What a later call needs to continue. */
interface KeptContext extends GrowingContext {
  /** Shared with the contexts that continue it. */
  readonly messages: AgentMessage[];
  readonly settings: SettingsState;
  /** Length of the lines that the messages are from. */
  readonly bytes: number;
}

/** See the file comment. */
export class ContextMemo {
  readonly #bytesMax: number | undefined;
  readonly #path = new PathFold<KeptContext>();

  /** @param bytesMax Longest context that is kept, in bytes. Default: the cache for bodies. */
  constructor(bytesMax?: number) {
    this.#bytesMax = bytesMax;
  }

  /** The context at an entry, or before the first one for null. The array is the caller's. */
  contextAt(engine: Engine, leafId: string | null): SessionContext {
    const context =
      this.#extended(engine, leafId) ??
      this.#rebuilt(engine, leafId, loadedContextSync(engine, leafId));
    return ownContext(context);
  }

  /** As {@link ContextMemo.growingAt}; the array is the caller's. */
  async pathContextAt(engine: Engine, leafId: string | null): Promise<PathContext> {
    const context = await this.growingAt(engine, leafId);
    const { truncatedAt } = context;
    const own = ownContext(context);
    return truncatedAt === undefined ? own : { ...own, truncatedAt };
  }

  /**
   * The context at an entry, or before the first one for null, without copying what is kept. Reads
   * the few bodies that were added since blocking, a whole context without.
   * @throws BranchlogError `ERR_ENTRY_NOT_FOUND`.
   */
  async growingAt(engine: Engine, leafId: string | null): Promise<GrowingContext> {
    return (
      this.#extended(engine, leafId) ??
      this.#rebuilt(engine, leafId, await loadedContext(engine, leafId, false))
    );
  }

  #extended(engine: Engine, leafId: string | null): KeptContext | undefined {
    const { state } = engine.log;
    const row = rowAt(state, leafId);
    const onward = this.#path.onward(state, row);
    const context = onward && extended(engine, onward);
    if (context === undefined) return undefined;
    this.#keep(engine, state, row, context);
    return context;
  }

  #rebuilt(engine: Engine, leafId: string | null, loaded: LoadedContext): KeptContext {
    const { context, settings, path, state, structureVersion } = loaded;
    const { messages, truncatedAt } = context;
    const row = rowAt(state, leafId);
    let bytes = 0;
    for (const one of loaded.loaded.keys()) bytes += state.index.rows.length(one);
    const kept = { messages, count: messages.length, settings, truncatedAt, bytes };
    // No walk continues from a cycle, from before the first entry, or from what has changed since.
    const isFirm = row >= 0 && !path.cyclic && state.index.structureVersion === structureVersion;
    if (isFirm) this.#keep(engine, state, row, kept);
    else this.#path.forget();
    return kept;
  }

  #keep({ settings }: Engine, state: LogState, row: number, context: KeptContext): void {
    const isShort = context.bytes <= (this.#bytesMax ?? settings.bodyCacheBytesMax);
    if (isShort) this.#path.keep(state, row, context, context.count);
    else this.#path.forget();
  }
}

/** The context with an array that does not grow. */
function ownContext({ messages, count, settings }: GrowingContext): SessionContext {
  const { thinkingLevel, model } = settings;
  return {
    messages: messages.slice(0, count),
    thinkingLevel,
    model: model === null ? null : { ...model },
  };
}

/** The kept context with what the rows add; undefined if that is more than messages at its end. */
function extended(engine: Engine, { value, rows }: Onward<KeptContext>): KeptContext | undefined {
  const { index, bodies, findings } = engine;
  if (!rows.every((row) => isAppendOnly(index.kindOf(row).type))) return undefined;
  const entries: SessionEntry[] = [];
  let { bytes, settings } = value;
  for (const row of rows) {
    const { type } = index.kindOf(row);
    if (!contributesToContext(type, 1) && !isSetting(type)) continue;
    const entry = bodies.isBuildable(row) ? bodies.entrySync(row) : undefined;
    // Damaged or too large.
    if (entry === undefined) return undefined;
    entries.push(entry);
    bytes += index.rows.length(row);
    settings = settingsAfter(settings, entry);
  }
  // All bodies are there: from here on nothing fails halfway.
  for (const entry of entries) {
    const own = entryMessages(entry, (problem) => findings.addMalformed(problem));
    value.messages.push(...own);
  }
  return { ...value, count: value.messages.length, settings, bytes };
}

/** Whether an entry of that type only adds to the end of a context. */
function isAppendOnly(type: string): boolean {
  return type !== "compaction" && type !== "context_edit" && type !== "reset_boundary";
}

function isSetting(type: string): boolean {
  return type === "model_change" || type === "thinking_level_change";
}
