/**
 * The one incremental walk: what was computed of the path to a leaf is kept, and the path to a leaf
 * below it costs what was added, not what the conversation costs. Contexts, turns and settings are
 * kept so. What is kept always equals what the whole path gives.
 */
import type { SessionEntry } from "../entries/entry-types.ts";
import { parentOfRow } from "../index-table/tree-walk.ts";
import type { LogState } from "../log/log-state.ts";
import { settingsAfter, settingsOf, settingsStateOfPath } from "../projections/settings.ts";
import type { PathSettings, SettingsState } from "../projections/settings.ts";
import type { Engine } from "./engine.ts";

/** Entries above a leaf that are always searched for the kept leaf; more if more is kept. */
const stepsAlways = 1_000;

/** What is kept, and which path it belongs to. */
interface KeptPath<S> {
  readonly state: LogState;
  /** While the index has the same, the path is what it was. */
  readonly structureVersion: number;
  readonly leafRow: number;
  readonly value: S;
  readonly length: number;
}

/** What is kept, and what follows it. */
export interface Onward<S> {
  readonly value: S;
  /** The rows below the kept leaf, down to the one that was asked for. */
  readonly rows: readonly number[];
  /** As given to `keep`. */
  readonly length: number;
}

/** See the file comment. `S` is the state of a fold at a leaf. */
export class PathFold<S> {
  #kept: KeptPath<S> | undefined;

  /**
   * What is kept and how to continue from there to `row`; undefined if `row` is not below the kept
   * leaf, or so far below that folding the whole path costs no more.
   */
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
    return { value, length, rows: rows.reverse() };
  }

  /**
   * Keeps the state at a leaf, in the place of what was kept.
   * @param leafRow -1: before the first entry.
   * @param length How much was folded to get it, in entries or messages.
   */
  keep(state: LogState, leafRow: number, value: S, length = 0): void {
    const { structureVersion } = state.index;
    this.#kept = { state, structureVersion, leafRow, value, length };
  }

  /** Keeps nothing: the next state is folded from the root. */
  forget(): void {
    this.#kept = undefined;
  }
}

/** The row of an entry; -1 for null, and for an id that the log does not hold. */
export function rowAt({ index }: LogState, leafId: string | null): number {
  return leafId === null ? -1 : index.rowOfId(leafId);
}

/** The settings at a leaf, kept for the next one. */
export class SettingsMemo {
  readonly #path = new PathFold<SettingsState>();

  /** The settings at an entry, or before the first one for null. May read bodies. */
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

/** Undefined if a body that may change the settings cannot be read. */
function settingsBehind(
  { index, bodies }: Engine,
  { value, rows }: Onward<SettingsState>,
): SettingsState | undefined {
  const changes: SessionEntry[] = [];
  for (const row of rows) {
    const { type, role } = index.kindOf(row);
    if (!maySet(type, role)) continue;
    const entry = bodies.isBuildable(row) ? bodies.entrySync(row) : undefined;
    if (entry === undefined) return undefined;
    changes.push(entry);
  }
  return changes.reduce(settingsAfter, value);
}

/** Whether an entry of that kind may change the settings. */
function maySet(type: string, role: string | undefined): boolean {
  if (type === "message") return role === "assistant";
  return type === "model_change" || type === "thinking_level_change";
}
