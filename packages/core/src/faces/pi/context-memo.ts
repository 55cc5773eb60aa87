/**
 * Keeps the context at a leaf, so that the one after a few more entries costs what they cost, not
 * what the conversation costs. It holds the messages of one context, and none of those larger than
 * the cache for bodies. What it gives always equals what the context builder gives anew.
 */
import type { SessionEntry } from "../../entries/entry-types.ts";
import type { AgentMessage } from "../../entries/message-types.ts";
import type { IndexTable } from "../../index-table/index-table.ts";
import { parentOfRow } from "../../index-table/tree-walk.ts";
import { entryMessages } from "../../projections/context-messages.ts";
import { canSpeak } from "../../projections/context.ts";
import type { SessionContext } from "../../projections/context.ts";
import { arrayPathView } from "../../projections/projection.ts";
import { settingsOfPath } from "../../projections/settings.ts";
import type { PathSettings } from "../../projections/settings.ts";
import { loadedContextSync } from "../../session/context-load.ts";
import type { Engine } from "../../session/engine.ts";
import type { LogState } from "../../session/log-state.ts";

/** Entries above a leaf that are always looked at for the kept one; more if more is kept. */
const stepsAlways = 1_000;

/** A context and what it was built from. */
interface KeptContext {
  readonly state: LogState;
  /** How many rows were damaged and shadowed: one more may be on the path. */
  readonly hidden: number;
  /** The slot of the id at which the path breaks off, or -1: an entry with it would prolong it. */
  readonly missingSlot: number;
  readonly leafRow: number;
  readonly messages: AgentMessage[];
  readonly settings: PathSettings;
  readonly bytes: number;
}

/** See the file comment. */
export class ContextMemo {
  #kept: KeptContext | undefined;

  /** The context at an entry, or before the first one for null. The array is the caller's. */
  contextAt(engine: Engine, leafId: string | null): SessionContext {
    const row = leafId === null ? -1 : engine.index.rowOfId(leafId);
    const kept = this.#kept;
    const rows = kept === undefined ? null : rowsAfter(engine, kept, row);
    const current = kept === undefined || rows === null ? null : extended(engine, kept, rows);
    const context = current ?? rebuilt(engine, leafId, row);
    this.#kept = context.isKeepable ? context : undefined;
    const { messages, settings } = context;
    const { thinkingLevel, model } = settings;
    return {
      messages: context.isKeepable ? messages.slice() : messages,
      thinkingLevel,
      model: model === null ? null : { ...model },
    };
  }
}

interface FoundContext extends KeptContext {
  readonly isKeepable: boolean;
}

function rebuilt(engine: Engine, leafId: string | null, row: number): FoundContext {
  const { context, path, loaded } = loadedContextSync(engine, leafId);
  const { messages, thinkingLevel, model } = context;
  const { index } = engine;
  let bytes = 0;
  for (const one of loaded.keys()) bytes += index.rows.length(one);
  const { missingParentId, cyclic } = path;
  return {
    state: engine.log.state,
    hidden: hiddenCount(index),
    missingSlot: missingParentId === null ? -1 : index.ids.find(missingParentId),
    leafRow: row,
    messages,
    settings: { thinkingLevel, model },
    bytes,
    isKeepable: row >= 0 && !cyclic && bytes <= engine.settings.bodyCacheBytesMax,
  };
}

/** The rows that follow the kept leaf down to `row`; null if `row` is not below it, or far. */
function rowsAfter(engine: Engine, kept: KeptContext, row: number): number[] | null {
  const { index } = engine;
  if (kept.state !== engine.log.state || kept.hidden !== hiddenCount(index)) return null;
  if (kept.missingSlot >= 0 && index.rowOfSlot(kept.missingSlot) >= 0) return null;
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
  return type !== "compaction" && type !== "context_edit";
}

/** The kept context with what the rows add; null if one of them is damaged or too large. */
function extended(engine: Engine, kept: KeptContext, rows: readonly number[]): FoundContext | null {
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
  const isKeepable = bytes <= engine.settings.bodyCacheBytesMax;
  return { ...kept, leafRow, settings, bytes, isKeepable };
}

function isSetting(type: string): boolean {
  return type === "model_change" || type === "thinking_level_change";
}

function settingsAfter(before: PathSettings, entry: SessionEntry): PathSettings {
  const own = settingsOfPath(arrayPathView([entry]));
  const level: unknown = entry.type === "thinking_level_change" ? entry.thinkingLevel : undefined;
  return {
    thinkingLevel: typeof level === "string" ? level : before.thinkingLevel,
    model: own.model ?? before.model,
  };
}

function hiddenCount(index: IndexTable): number {
  return index.damagedCount + index.shadowedCount;
}
