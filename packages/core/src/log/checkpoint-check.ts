/**
 * Compares a log that is read whole with its checkpoint, and asks for the comparison with its
 * checksums, to find changes in lines that still parse.
 */
import { isDeepStrictEqual } from "node:util";
import { runAsync } from "@branchlog/streaming";
import { loadPages } from "../checkpoint/checkpoint-file.ts";
import { isBoundTo } from "../checkpoint/log-binding.ts";
import type { LogSums } from "../checkpoint/log-sums.ts";
import { checkpointKind } from "../checkpoint/page-file.ts";
import type { PageFile } from "../checkpoint/page-file.ts";
import { entryPlace } from "../index-table/diagnostics.ts";
import type { Diagnostic, EntryPlace, SavedDiagnostics } from "../index-table/diagnostics.ts";
import { IndexTable } from "../index-table/index-table.ts";
import type { RestoredIndex } from "../index-table/index-table.ts";
import type { LogIndexer } from "../index-table/log-indexer.ts";
import { LineMap, rowFlags } from "../index-table/row-table.ts";
import type { Kind } from "../index-table/row-table.ts";
import { pageCount } from "../index-table/saved-pages.ts";
import { bodyBytesMax, diagnosticsMax } from "../limits.ts";
import type { LogFile } from "../platform/log-file.ts";
import type { FileStat } from "../platform/ports.ts";
import type { FoldedProjections } from "../projections/folded.ts";
import { checkpointPlaces, savedSums } from "./checkpoints.ts";
import { checksumFindings } from "./checksum-findings.ts";
import type { ChecksumFindings } from "./checksum-findings.ts";
import type { EngineSettings } from "./engine-options.ts";
import { readCheckpoint } from "./log-checkpoint.ts";
import type { FoundCheckpoint } from "./log-checkpoint.ts";

/** A difference between a checkpoint and the log, of one entry or of the log as a whole. */
export interface CheckpointDifference {
  readonly what:
    | "header"
    | "name"
    | "labels"
    | "dialect"
    | "usage"
    | "findings"
    | "lines"
    | "entries"
    | "place"
    | "id"
    | "parent"
    | "kind"
    | "time"
    | "damage"
    | "links";
  readonly entry: EntryPlace | null;
}

interface CheckpointFindings {
  readonly checkpointDifferenceCount: number;
  readonly checkpointDifferences: readonly CheckpointDifference[];
}

interface ReadLog {
  readonly indexer: LogIndexer;
  readonly folded: FoldedProjections;
  readonly lineNumber: number;
}

export const noDifferences: CheckpointFindings = {
  checkpointDifferenceCount: 0,
  checkpointDifferences: [],
};

type CheckSettings = Pick<
  EngineSettings,
  "checkpoint" | "checkpointDir" | "checkpointEveryBytes" | "lineBytesMax" | "ports"
>;

/**
 * The saved state of one log. Made before the log is read, which then covers at least as much; then
 * `find` is to be called once.
 */
export class CheckpointCheck {
  readonly #settings: CheckSettings;
  readonly #stat: FileStat | null;
  readonly #sums: LogSums | undefined;
  #found: FoundCheckpoint | undefined;

  /** Nothing is compared if checkpoints are off. Throws nothing. */
  constructor(settings: CheckSettings, path: string, stat: FileStat | null) {
    this.#settings = settings;
    this.#stat = settings.checkpoint === "off" ? null : stat;
    this.#sums = this.#stat === null ? undefined : savedSums(settings, path, this.#stat);
  }

  /**
   * Where the log is to be read to for {@link CheckpointCheck.differences}; undefined: there is no
   * checkpoint of this file up to `end`.
   */
  async find(file: LogFile, end: number): Promise<number | undefined> {
    const stat = this.#stat;
    if (stat === null) return undefined;
    const { lineBytesMax, ports } = this.#settings;
    const read = (saved: PageFile): FoundCheckpoint =>
      readCheckpoint({ file, lineBytesMax }, stat, saved);
    for (const path of checkpointPlaces(this.#settings, file.path, stat)) {
      this.#found ??= await runAsync(loadPages(ports.fs, path, checkpointKind, read));
    }
    const binding = this.#found?.checkpoint.binding;
    const isOf = binding !== undefined && file.isAt(binding) && binding.end <= end;
    return isOf ? binding.end : undefined;
  }

  /** How many rows the saved usage covers. */
  get usageRows(): number {
    return this.#found?.checkpoint.state.folded.usage?.rows ?? 0;
  }

  /** A log that was rewritten is not the one of the checkpoint, and has none. */
  differences(file: LogFile, log: ReadLog, statSync: () => FileStat | null): CheckpointFindings {
    const found = this.#found;
    if (found === undefined) return noDifferences;
    const differences = checkpointDifferences(found, log);
    const later = statSync();
    const isSame = later !== null && isBoundTo(found.checkpoint.binding, file, later);
    return isSame ? differences : noDifferences;
  }

  /** O(bytes covered); memory for a checksum of each 64 KiB. */
  async changes(
    source: LogFile,
    indexer: LogIndexer,
    signal?: AbortSignal,
  ): Promise<ChecksumFindings> {
    const sums = this.#sums;
    const isOf = sums !== undefined && source.isAt(sums);
    return checksumFindings({ source, indexer, sums: isOf ? sums : undefined }, signal);
  }
}

/** Findings that follow from lines alone, independent of the bodies that were read. */
const indexedFindings: ReadonlySet<string> = new Set([
  "bad-line",
  "not-an-entry",
  "duplicate-id",
  "second-header",
  "before-header",
]);
const bodyFindings = ["damaged-entry", "malformed-body"] as const;
/** Flags that a line determines; the others change while bodies are read. */
const lineFlags = rowFlags.tailForm | rowFlags.exactTime;
const payloadFlags = rowFlags.endsWithObject | rowFlags.hasPayload;

function checkpointDifferences(
  { checkpoint, header }: FoundCheckpoint,
  log: ReadLog,
): CheckpointFindings {
  const { indexer, folded, lineNumber } = checkpoint.state;
  // A damaged page is read from the log: only trusted contents can differ.
  if (!hasWholePages(indexer.index)) return noDifferences;
  const own = log.indexer;
  const rows = differentEntries(checkpoint.state.indexer, own);
  const ofAll: CheckpointDifference["what"][] = [];
  const compare = (what: CheckpointDifference["what"], isSame: boolean): void => {
    if (!isSame) ofAll.push(what);
  };
  // Rows after the last that counts are not a difference.
  log.folded.usage.reached(folded.usage?.rows ?? 0);
  const { names, labels, labelled, ...others } = log.folded.save();
  compare("header", isDeepStrictEqual(header, own.header));
  compare("name", isDeepStrictEqual(folded.names, names));
  compare("labels", isDeepStrictEqual([folded.labels, folded.labelled], [labels, labelled]));
  compare("dialect", folded.dialect === others.dialect);
  compare("usage", isDeepStrictEqual(folded.usage, others.usage));
  compare("lines", lineNumber === log.lineNumber && hasSameLines(indexer.lines, own.lines));
  compare("kind", hasKindsOf(own, indexer.index.kinds));
  compare(
    "findings",
    indexer.entriesBeforeHeader === own.entriesBeforeHeader &&
      isDeepStrictEqual(ofLines(indexer.diagnostics), ofLines(own.diagnostics.save())) &&
      bodyFindings.every((kind) => areOfBodies(indexer.diagnostics, kind, own)),
  );
  const list = [...ofAll.map((what) => ({ what, entry: null })), ...rows.list];
  return {
    checkpointDifferenceCount: ofAll.length + rows.count,
    checkpointDifferences: list.slice(0, diagnosticsMax),
  };
}

function hasWholePages({ rows, ids, links }: RestoredIndex): boolean {
  const ofIds = [ids.word, ids.inArena, ids.arena, ids.buckets];
  const columns = [...Object.values(rows.columns), ...ofIds, ...Object.values(links.columns)];
  try {
    for (const column of columns) {
      for (let page = 0; page < pageCount(column); page += 1) column.page(page);
    }
    return true;
  } catch {
    return false;
  }
}

function differentEntries(
  saved: FoundCheckpoint["checkpoint"]["state"]["indexer"],
  own: LogIndexer,
): { readonly count: number; readonly list: readonly CheckpointDifference[] } {
  const restored = new IndexTable();
  let isPossible = true;
  restored.restore(saved.index, () => {
    isPossible = false;
    restored.become(linkedAnew(own.index, own.index.count, () => false));
  });
  const lines = new LineMap();
  lines.restore(saved.lines);
  const rows = Math.min(restored.count, own.index.count);
  const isDamaged = (row: number): boolean => restored.rows.is(row, rowFlags.damaged);
  const linked = isWhole(own.index, rows, isDamaged)
    ? own.index
    : linkedAnew(own.index, rows, isDamaged);
  const list: CheckpointDifference[] = [];
  let count = 0;
  const add = (what: CheckpointDifference["what"], entry: EntryPlace | null, more = 1): void => {
    count += more;
    if (list.length < diagnosticsMax) list.push({ what, entry });
  };
  const isSameKind = kindComparison(restored, own.index);
  const missing = Math.abs(restored.count - own.index.count);
  if (missing > 0) add("entries", null, missing);
  for (let row = 0; row < rows; row += 1) {
    const isLine = lines.lineOfRow(row) === own.lines.lineOfRow(row);
    const ofRow = differenceOf(restored, own.index, row, isSameKind);
    const ofLinks = hasSameLinks(restored, linked, row) ? undefined : "links";
    const what = isLine ? (ofRow ?? ofLinks) : "lines";
    // After what no log can hold, the log would be compared with itself.
    if (!isPossible) break;
    if (what !== undefined) add(what, entryPlace(own, row));
  }
  if (!isPossible) add("entries", null);
  else if (!hasSameCounts(saved.index, linked)) add("links", null);
  return { count, list };
}

/** Whether its tree is that of so many rows without damage. */
function isWhole(own: IndexTable, count: number, isDamaged: (row: number) => boolean): boolean {
  if (own.count !== count || own.damagedCount > 0) return false;
  for (let row = 0; row < count; row += 1) if (isDamaged(row)) return false;
  return true;
}

/** The tree of the log if just the rows are damaged that `isDamaged` says. */
function linkedAnew(
  own: IndexTable,
  count: number,
  isDamaged: (row: number) => boolean,
): IndexTable {
  const linked = new IndexTable();
  const { rows } = own;
  for (let row = 0; row < count; row += 1) {
    const parentId = own.parentIdOf(row);
    const handle = linked.ids.add(own.idOf(row));
    const parentHandle = parentId === null ? rows.parentHandle(row) : linked.ids.add(parentId);
    const [offset, length] = [rows.offset(row), rows.length(row)];
    linked.add({ offset, length, handle, parentHandle, kind: 0, time: 0, flags: 0 });
  }
  for (let row = 0; row < count; row += 1) if (isDamaged(row)) linked.markDamaged(row);
  return linked;
}

function hasSameCounts({ counts, hidden, last }: RestoredIndex, linked: IndexTable): boolean {
  const { counts: ours, hidden: oursHidden, last: oursLast } = linked.save();
  const isSame = isDeepStrictEqual(counts, ours);
  return (
    isSame && isDeepStrictEqual([pairs(hidden), pairs(last)], [pairs(oursHidden), pairs(oursLast)])
  );
}

function pairs(numbers: Int32Array): ReadonlyMap<number, number> {
  const map = new Map<number, number>();
  for (let at = 0; at + 1 < numbers.length; at += 2)
    map.set(numbers[at] ?? 0, numbers[at + 1] ?? 0);
  return map;
}

const treeFlags = rowFlags.damaged | rowFlags.shadowed;

function hasSameLinks(saved: IndexTable, linked: IndexTable, row: number): boolean {
  const [there, here] = [saved.rows, linked.rows];
  const isFlagged = ((there.flags(row) ^ here.flags(row)) & treeFlags) !== 0;
  if (isFlagged || there.nextSibling(row) !== here.nextSibling(row)) return false;
  const handles = [
    [there.handle(row), here.handle(row)],
    [there.parentHandle(row), here.parentHandle(row)],
  ] as const;
  return handles.every(([one, other]) => {
    if (saved.rowOfHandle(one) !== linked.rowOfHandle(other)) return false;
    const [ofOne, ofOther] = [saved.childrenAt(one), linked.childrenAt(other)];
    const isSame = ofOne.first === ofOther.first && ofOne.last === ofOther.last;
    return isSame && ofOne.shown === ofOther.shown;
  });
}

function differenceOf(
  saved: IndexTable,
  own: IndexTable,
  row: number,
  isSameKind: (row: number) => boolean,
): CheckpointDifference["what"] | undefined {
  const [there, here] = [saved.rows, own.rows];
  const isPlace = there.offset(row) === here.offset(row) && there.length(row) === here.length(row);
  if (!isPlace) return "place";
  const id = own.idOf(row);
  // An id that is missing or repeated differs.
  if (saved.idOf(row) !== id || saved.ids.find(id) !== there.handle(row)) return "id";
  if (saved.parentIdOf(row) !== own.parentIdOf(row)) return "parent";
  if (!isSameKind(row)) return "kind";
  const isTime = Object.is(there.time(row), here.time(row));
  const flags = there.flags(row) ^ here.flags(row);
  const added = flags & there.flags(row);
  if (!isTime || (flags & lineFlags) !== 0 || (added & payloadFlags) !== 0) return "time";
  const isHere = here.is(row, rowFlags.damaged);
  // The damage of a provisional row is not known yet.
  const isThere =
    there.is(row, rowFlags.damaged) || (isHere && there.is(row, rowFlags.provisional));
  return isHere === isThere ? undefined : "damage";
}

function hasSameLines(saved: ReturnType<LineMap["save"]>, own: LineMap): boolean {
  const { otherRecords, recordCount } = own.save();
  const isSameCount = saved.recordCount === recordCount;
  return isSameCount && isDeepStrictEqual(saved.otherRecords, otherRecords);
}

function keyOf({ type, role, customType }: Kind): string {
  return JSON.stringify([type, role ?? null, customType ?? null]);
}

/** The numbers of kinds depend on their order. */
function kindComparison(saved: IndexTable, own: IndexTable): (row: number) => boolean {
  const [there, here] = [saved.kinds.kinds.map(keyOf), own.kinds.kinds.map(keyOf)];
  return (row) => there[saved.rows.kind(row)] === here[own.rows.kind(row)];
}

function hasKindsOf(own: LogIndexer, kinds: readonly Kind[]): boolean {
  const known = new Set(own.index.kinds.save().map(keyOf));
  return kinds.every((kind) => known.has(keyOf(kind)));
}

function ofLines({ entries, counts }: SavedDiagnostics): unknown {
  // The order of repeated ids and of different kinds depends on batches.
  const inOrder = entries
    .filter(({ kind }) => indexedFindings.has(kind))
    .toSorted((one, other) => (one.offset ?? 0) - (other.offset ?? 0));
  return [inOrder, new Map(counts.filter(([kind]) => indexedFindings.has(kind)))];
}

function areOfBodies(
  { entries, counts }: SavedDiagnostics,
  kind: (typeof bodyFindings)[number],
  own: LogIndexer,
): boolean {
  const { rows, count } = own.index;
  const found = entries.filter((entry) => entry.kind === kind);
  if (found.length === 0 && counts.every(([counted]) => counted !== kind)) return true;
  const isSo = (row: number): boolean =>
    kind === "damaged-entry" ? rows.is(row, rowFlags.damaged) : rows.length(row) > bodyBytesMax;
  const places = new Map<number, EntryPlace>();
  for (let row = 0; row < count; row += 1) {
    if (isSo(row)) places.set(rows.offset(row), entryPlace(own, row));
  }
  const isFound = ({ id, line, offset, length }: Diagnostic): boolean =>
    isDeepStrictEqual({ id, line, offset, length }, places.get(offset ?? -1));
  return (
    found.every(isFound) &&
    counts.every(([counted, number]) => counted !== kind || number <= places.size)
  );
}
