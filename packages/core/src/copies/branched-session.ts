/**
 * One branch of a session as a session of its own: the path to an entry without its label entries,
 * chained again, then the name and the labels in force on it. Entries keep their ids and bytes; the
 * context at their end is that of the source.
 */
import type { NewLinks } from "../dialects/object-members.ts";
import type { CompactionEntry, SessionHeader } from "../entries/entry-types.ts";
import { prepare } from "../append/request.ts";
import { nameInForce } from "../projections/name.ts";
import type { Engine } from "../session/engine.ts";
import { copiedPath } from "../session/entry-query.ts";
import {
  addedLines,
  entryLines,
  firstNaming,
  readableRows,
  relinkedLine,
  lastNaming,
} from "./copied-entries.ts";
import type { AddedEntry } from "./copied-entries.ts";
import { headerLines } from "./session-header.ts";

export interface Branch {
  readonly rows: readonly number[];
  readonly dropped: ReadonlyMap<string, DroppedLabel>;
  readonly isConversation: boolean;
  /** Those of a session of its own. @param onEntry Called with each copied entry. */
  readonly lines: (header: SessionHeader, onEntry?: () => void) => Iterable<Buffer>;
}

interface DroppedLabel {
  /** The copied entry before it; undefined: it was above all of them. */
  readonly before: string | undefined;
  /** The copied entry after it; undefined: it was below all of them. */
  after: string | undefined;
}

export function branchTo(engine: Engine, leafRow: number): Branch {
  const { index } = engine;
  const path = readableRows(engine, copiedPath(engine, leafRow));
  const rows: number[] = [];
  const dropped = new Map<string, DroppedLabel>();
  let open: DroppedLabel[] = [];
  let before: string | undefined;
  for (const row of path) {
    const id = index.idOf(row);
    if (index.kindOf(row).type === "label") {
      const label = { before, after: undefined };
      dropped.set(id, label);
      open.push(label);
      continue;
    }
    for (const label of open) label.after = id;
    open = [];
    before = id;
    rows.push(row);
  }
  const speaks = (row: number): boolean => {
    const { type, role } = index.kindOf(row);
    return isConversation(type, role);
  };
  const copied = { rows, dropped };
  return {
    ...copied,
    isConversation: rows.some(speaks),
    lines: (header, onEntry) => branchLines(engine, copied, header, onEntry),
  };
}

type CopiedRows = Pick<Branch, "rows" | "dropped">;

function* branchLines(
  engine: Engine,
  branch: CopiedRows,
  header: SessionHeader,
  onEntry: () => void = () => undefined,
): Generator<Buffer> {
  yield* headerLines(engine, header);
  const { index } = engine;
  let parentId: string | null = null;
  for (const entry of entryLines(engine, branch.rows)) {
    const { row } = entry;
    onEntry();
    const links: NewLinks = {
      ...(index.parentIdOf(row) === parentId ? {} : { parentId }),
      ...movedBoundary(engine, row, branch),
    };
    yield* relinkedLine(engine, entry, links);
    parentId = index.idOf(row);
  }
  yield* addedLines(engine, carriedEntries(engine, branch), parentId, {
    encode: (draft, timestamp) =>
      prepare(draft, { timestamp, dialect: engine.dialect, checks: "none" }),
    mintId: () => engine.appender.mintEntryId(),
  });
}

export function isConversation(type: string, role: string | undefined): boolean {
  return type === "message" && (role === "user" || role === "assistant");
}

/** A boundary on an omitted label moves to the next entry, so that as much is kept. */
function movedBoundary(engine: Engine, row: number, { dropped }: CopiedRows): NewLinks {
  if (dropped.size === 0 || engine.index.kindOf(row).type !== "compaction") return {};
  const entry = engine.bodies.entrySync(row);
  if (entry?.type !== "compaction") return {};
  const first = dropped.get(entry.firstKeptEntryId)?.after;
  const firstKept = first === undefined ? {} : { firstKeptEntryId: first };
  return { ...firstKept, ...movedReplay(entry, dropped) };
}

/** The replayed part ends where the kept one begins: at the entry before the label. */
function movedReplay(entry: CompactionEntry, dropped: Branch["dropped"]): NewLinks {
  const { firstKeptEntryId, providerReplayThroughEntryId: replayed } = entry;
  const label = replayed === undefined ? undefined : dropped.get(replayed);
  if (label === undefined) return {};
  const { before, after } = label;
  if (before !== undefined) return { providerReplayThroughEntryId: before };
  return firstKeptEntryId === "" && after !== undefined ? { firstKeptEntryId: after } : {};
}

/** The name and labels that entries elsewhere in the log, or omitted ones, set for the branch. */
function* carriedEntries(engine: Engine, { rows }: CopiedRows): Generator<AddedEntry> {
  const { index, log, header } = engine;
  const { name, folded, titleSlot: slot } = log.state;
  const { labels } = folded;
  const labelled = new Set(Array.from(labels.keys(), (id) => index.rowOfId(id)));
  const onBranch = new Set(rows.filter((row) => labelled.has(row)));
  const given = firstNaming(engine, rows.toReversed())?.name;
  if (nameInForce({ slot, given, header }) !== name) {
    const last = lastNaming(engine);
    // The title of a transcript is in no entry: a copy is as old as what it copies.
    const timestamp = timeOf(engine, last?.entry.timestamp ?? timeOfRow(engine, rows.at(-1)));
    yield { draft: { type: "session_info", name: name ?? "" }, timestamp };
  }
  for (const [targetId, { label, timestamp }] of labels) {
    if (!onBranch.has(index.rowOfId(targetId))) continue;
    yield { draft: { type: "label", targetId, label }, timestamp: timeOf(engine, timestamp) };
  }
}

function timeOfRow({ index }: Engine, row: number | undefined): string | undefined {
  const timeMs = row === undefined ? Number.NaN : index.rows.time(row);
  return Number.isNaN(timeMs) ? undefined : new Date(timeMs).toISOString();
}

function timeOf({ settings }: Engine, stored: unknown): string {
  return typeof stored === "string" ? stored : new Date(settings.ports.clock.now()).toISOString();
}
