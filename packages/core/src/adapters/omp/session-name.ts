/**
 * Naming a session as omp does: in the header while nothing of it is on disk, then in its title
 * slot if it has one, else by an entry. A name made by an agent never replaces a user's.
 */
import { encodeHeader } from "../../entries/encode-entry.ts";
import { normalizeName } from "../../entries/identifiers.ts";
import type { TitleSource } from "../../dialects/title-slot.ts";
import { namingsIn, rowsBackwards } from "../../copies/copied-entries.ts";
import type { Engine } from "../../session/engine.ts";
import { appendToLog, bytesOf, draftLog, nameInSlot, nowMs } from "../pi/session-log.ts";
import type { SessionLog } from "../pi/session-log.ts";

export interface Title {
  readonly title: string;
  /** Undefined if unknown. */
  readonly source?: TitleSource | undefined;
  /** What made an agent name it. */
  readonly trigger?: string | undefined;
}

/**
 * Null: it keeps the name that its user gave it, or the title is empty.
 * @returns The log of the session afterwards.
 * @throws As appending does.
 */
export function named(log: SessionLog, { title, source, trigger }: Title): SessionLog | null {
  const { engine } = log;
  const name = normalizeName(title);
  // Another process may have named it a moment ago.
  engine.refreshSync();
  if (name === "" || (source === "auto" && titleSource(engine) === "user")) return null;
  if (engine.log.state.titleSlot !== undefined) return nameInSlot(log, name, source) ? log : null;
  if (log.draftOf !== null) return titledDraft(log, log.draftOf, name, source);
  const previousTitle = engine.log.state.name;
  const fields = { title: name, source: source ?? "user", previousTitle, trigger };
  return appendToLog(log, { type: "title_change", ...fields }, nowMs(log)).log;
}

/** Undefined if unknown. */
export function titleSource(engine: Engine): TitleSource | undefined {
  const { header, log } = engine;
  const { titleSlot } = log.state;
  if (titleSlot !== undefined) return titleSlot.source;
  const [last] = namingsIn(engine, rowsBackwards(engine));
  if (last?.entry.type === "session_info") return "user";
  if (last !== undefined) return sourceOf(Reflect.get(last.entry, "source"));
  return sourceOf(Reflect.get(header, "titleSource"));
}

function sourceOf(stored: unknown): TitleSource | undefined {
  return stored === "auto" || stored === "user" ? stored : undefined;
}

/** Nothing of the draft is on disk yet. */
function titledDraft(
  { engine, options, leaf }: SessionLog,
  path: string,
  title: string,
  source: TitleSource | undefined,
): SessionLog {
  const { offset = 0, length = 0 } = engine.log.state.indexer.header ?? {};
  const titled = Object.assign({ ...engine.header, title }, { titleSource: source ?? "user" });
  const header = encodeHeader(titled);
  const entries = Buffer.concat([...bytesOf(engine)]).subarray(offset + length + 1);
  const draft = draftLog(path, [header, entries], options);
  draft.leaf.pin(leaf.id);
  return draft;
}
