/**
 * Keeps results for the path to a leaf, so that contexts and settings further down cost only the
 * added entries. Results equal those of the whole path.
 */
import { answerKey } from "../entries/answers.ts";
import type { SessionEntry } from "../entries/entry-types.ts";
import type { Kind } from "../index-table/row-table.ts";
import { parentOfRow } from "../index-table/tree-walk.ts";
import type { LogState } from "../log/log-state.ts";
import { settingsAfter, settingsOf, settingsStateOfPath } from "../projections/settings.ts";
import type { PathSettings, SettingsState } from "../projections/settings.ts";
import type { Engine } from "./engine.ts";
import type { AgentMessage } from "../entries/message-types.ts";
import { contributesToContext, entryMessages } from "../projections/context.ts";
import type { PathContext, SessionContext } from "../projections/context.ts";
import { loadedContext, loadedContextSync } from "./context-load.ts";
import type { LoadedContext } from "./context-load.ts";

/** Entries above a leaf that are always searched for the kept leaf; more if more is kept. */
const stepsAlways = 1_000;

interface KeptPath<S> {
  readonly state: LogState;
  readonly structureVersion: number;
  readonly leafRow: number;
  readonly value: S;
  readonly length: number;
}

export interface Onward<S> {
  readonly value: S;
  readonly rows: readonly number[];
}

class PathFold<S> {
  #kept: KeptPath<S> | undefined;

  /** Undefined also if folding the whole path costs no more. */
  onward(state: LogState, row: number): Onward<S> | undefined {
    const kept = this.#kept;
    const { index } = state;
    if (kept?.state !== state || kept.structureVersion !== index.structureVersion) return undefined;
    const { value, length, leafRow } = kept;
    const rows: number[] = [];
    for (let at = row; at !== leafRow; at = parentOfRow(index, at)) {
      if (at < 0 || leafRow < 0 || rows.length === Math.max(stepsAlways, length)) return undefined;
      rows.push(at);
    }
    return { value, rows: rows.reverse() };
  }

  /** `length`: how much was folded, in entries or messages. */
  keep(state: LogState, leafRow: number, value: S, length = 0): void {
    const { structureVersion } = state.index;
    this.#kept = { state, structureVersion, leafRow, value, length };
  }

  forget(): void {
    this.#kept = undefined;
  }
}

/** -1 for null, and for an id that the log does not hold. */
function rowAt({ index }: LogState, leafId: string | null): number {
  return leafId === null ? -1 : index.rowOfId(leafId);
}

export class SettingsMemo {
  readonly #path = new PathFold<SettingsState>();

  at(engine: Engine, leafId: string | null): PathSettings {
    const { state } = engine.log;
    const row = rowAt(state, leafId);
    const onward = this.#path.onward(state, row);
    const settings =
      (onward && settingsBehind(engine, onward)) ??
      settingsStateOfPath(engine.pathView(row < 0 ? null : leafId));
    this.#path.keep(state, row, settings);
    return settingsOf(settings);
  }
}

function settingsBehind(
  { index, bodies }: Engine,
  { value, rows }: Onward<SettingsState>,
): SettingsState | undefined {
  const changes: SessionEntry[] = [];
  for (const row of rows) {
    const { type, role } = index.kindOf(row);
    if (!isSetting(type) && (type !== "message" || role !== "assistant")) continue;
    const entry = bodies.isBuildable(row) ? bodies.entrySync(row) : undefined;
    if (entry === undefined) return undefined;
    changes.push(entry);
  }
  return changes.reduce(settingsAfter, value);
}

/** Its array only grows; contexts on other paths have other arrays. */
export interface GrowingContext {
  readonly messages: readonly AgentMessage[];
  readonly count: number;
  readonly settings: PathSettings;
  readonly truncatedAt: string | undefined;
}

interface KeptContext extends GrowingContext {
  readonly messages: AgentMessage[];
  readonly settings: SettingsState;
  readonly bytes: number;
}

/** Keeps the context at one leaf, unless its bodies are longer than the limit. */
export class ContextMemo {
  readonly #bytesMax: number | undefined;
  readonly #path = new PathFold<KeptContext>();

  constructor(bytesMax?: number) {
    this.#bytesMax = bytesMax;
  }

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

  /** Shares its array. Throws `ERR_ENTRY_NOT_FOUND`. */
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
    const { context, settings, path, bytes, state, structureVersion } = loaded;
    const { messages, truncatedAt } = context;
    const row = rowAt(state, leafId);
    const kept = { messages, count: messages.length, settings, truncatedAt, bytes };
    // No walk continues from a cycle, from before the first entry, or from a changed tree.
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

function ownContext({ messages, count, settings }: GrowingContext): SessionContext {
  const { thinkingLevel, model } = settings;
  return {
    messages: messages.slice(0, count),
    thinkingLevel,
    model: model === null ? null : { ...model },
  };
}

function extended(engine: Engine, { value, rows }: Onward<KeptContext>): KeptContext | undefined {
  const { index, bodies, findings } = engine;
  if (!rows.every((row) => isAppendOnly(index.kindOf(row)))) return undefined;
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
  // All bodies are present: from here on nothing fails halfway.
  for (const entry of entries) {
    const own = entryMessages(entry, (problem) => findings.addMalformed(problem));
    value.messages.push(...own);
  }
  return { ...value, count: value.messages.length, settings, bytes };
}

function isAppendOnly({ type, customType }: Kind): boolean {
  if (type === "message") return customType !== answerKey;
  return type !== "compaction" && type !== "context_edit" && type !== "reset_boundary";
}

function isSetting(type: string): boolean {
  return type === "model_change" || type === "thinking_level_change";
}
