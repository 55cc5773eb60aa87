/**
 * Names a session as omp does: in the header of a draft, then in the title slot if there is one,
 * else by an entry. A generated name never replaces a user's.
 */
import { lastNaming } from "@branchlog/core/engine";
import { encodeHeader } from "@branchlog/core/rows";
import { normalizeName } from "@branchlog/core/entries";
import type { TitleSource } from "@branchlog/core/rows";
import type { Engine } from "@branchlog/core/engine";
import { appendToLog, bytesOf, draftLog, nameInSlot, nowMs } from "../pi/session-log.ts";
import type { SessionLog } from "../pi/session-log.ts";

export interface Title {
  readonly title: string;
  /** Undefined if unknown. */
  readonly source?: TitleSource | undefined;
  /** Why an agent named it. */
  readonly trigger?: string | undefined;
}

/**
 * Null: the user's name stays, or the title is empty.
 *
 * @returns The log of the session afterwards.
 * @throws As appending does.
 */
export function named(log: SessionLog, { title, source, trigger }: Title): SessionLog | null {
  const { engine } = log;
  const name = normalizeName(title);
  // Another process may just have named it.
  engine.refreshSync();
  if (name === "" || (source === "auto" && titleSource(engine) === "user")) return null;
  if (engine.log.state.titleSlot !== undefined) return nameInSlot(log, name, source) ? log : null;
  if (log.draftOf !== null) return titledDraft(log, log.draftOf, name, source);
  const previousTitle = engine.log.state.name;
  const fields = { title: name, source: source ?? "user", previousTitle, trigger };
  return appendToLog(log, { type: "title_change", ...fields }, nowMs(log)).log;
}

export function titleSource(engine: Engine): TitleSource | undefined {
  const { header, log } = engine;
  const { titleSlot } = log.state;
  if (titleSlot !== undefined) return titleSlot.source;
  const last = lastNaming(engine);
  if (last?.entry.type === "session_info") return "user";
  if (last !== undefined) return sourceOf(Reflect.get(last.entry, "source"));
  return sourceOf(Reflect.get(header, "titleSource"));
}

function sourceOf(stored: unknown): TitleSource | undefined {
  return stored === "auto" || stored === "user" ? stored : undefined;
}

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
