/**
 * Keeps the settings at a leaf, so that those a few entries further cost what these cost, and not
 * the way to the root. Always equal to what the path as a whole gives.
 */
import type { SessionEntry } from "../entries/entry-types.ts";
import { parentOfRow } from "../index-table/tree-walk.ts";
import { settingsAfter, settingsOf, settingsStateOfPath } from "../projections/settings.ts";
import type { PathSettings, SettingsState } from "../projections/settings.ts";
import type { Engine } from "./engine.ts";
import type { LogState } from "../log/log-state.ts";

/** Entries above a leaf that are looked at for the kept one. */
const stepsMax = 1_000;

interface KeptSettings {
  readonly state: LogState;
  /** While this stays, the path to the leaf is what it was. */
  readonly structureVersion: number;
  readonly leafRow: number;
  readonly settings: SettingsState;
}

/** See the file comment. */
export class SettingsMemo {
  #kept: KeptSettings | undefined;

  /** The settings at an entry, or before the first one for null. May read bodies. */
  at(engine: Engine, leafId: string | null): PathSettings {
    const { index, log } = engine;
    const row = leafId === null ? -1 : index.rowOfId(leafId);
    const settings =
      this.#extended(engine, row) ?? settingsStateOfPath(engine.pathView(row < 0 ? null : leafId));
    const { structureVersion } = index;
    this.#kept = { state: log.state, structureVersion, leafRow: row, settings };
    return settingsOf(settings);
  }

  #extended({ index, bodies, log }: Engine, row: number): SettingsState | null {
    const kept = this.#kept;
    if (kept === undefined || kept.state !== log.state || kept.leafRow < 0) return null;
    if (kept.structureVersion !== index.structureVersion) return null;
    const found: SessionEntry[] = [];
    let steps = 0;
    for (let at = row; at !== kept.leafRow; at = parentOfRow(index, at)) {
      if (at < 0 || steps === stepsMax) return null;
      steps += 1;
      const { type, role } = index.kindOf(at);
      if (!maySet(type, role)) continue;
      const entry = bodies.isBuildable(at) ? bodies.entrySync(at) : undefined;
      if (entry === undefined) return null;
      found.push(entry);
    }
    return found.toReversed().reduce(settingsAfter, kept.settings);
  }
}

/** Whether an entry of that kind may say something of the settings. */
function maySet(type: string, role: string | undefined): boolean {
  if (type === "message") return role === "assistant";
  return type === "model_change" || type === "thinking_level_change";
}
