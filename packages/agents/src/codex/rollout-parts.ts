/**
 * The files of a thread. Since 0.146 a thread that was reverted continues in another file, named by
 * the thread and its own id, and since 0.154 a fork has no records of its origin: the first record
 * names the continued file, by that id, and the last position.
 */
import { readdirSync, statSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { LineFramer, decodeLine, openByteSource, runSync, scan } from "@branchlog/streaming";
import type { ByteSource, FileSource, LineSink } from "@branchlog/streaming";
import { countAt, objectAt, stringAt } from "@branchlog/core/rows";
import type { LogPart, SessionParts } from "@branchlog/core/rows";
import { homeOf } from "./session-index.ts";

export interface RolloutName {
  readonly startedAt: string;
  readonly thread: string;
  /** By which other files continue this one; of the first file of a thread that of the thread. */
  readonly id: string;
}

const uuid = "([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})";
const nameForm = new RegExp(
  `^rollout-(\\d{4}-\\d\\d-\\d\\dT\\d\\d-\\d\\d-\\d\\d)-${uuid}(?:_${uuid})?\\.jsonl$`,
);

/** Follows the name of a rollout that was compressed. */
export const compressedEnd = ".zst";

/** Undefined for any other name. */
export function rolloutName(name: string): RolloutName | undefined {
  const [, startedAt = "", thread = "", id = thread] = nameForm.exec(name) ?? [];
  return startedAt === "" ? undefined : { startedAt, thread, id };
}

export const rolloutParts: SessionParts = {
  mayHave: (name) => rolloutName(name) !== undefined,

  earlier(path, among) {
    const own = rolloutName(basename(path));
    // The first file of a thread has the id of the thread.
    if (own === undefined || own.id === own.thread) return [];
    const rollouts = among === undefined ? rolloutsNear(path) : among.flatMap(rolloutAt);
    return filesOf(own.thread, rollouts)
      .filter(({ name }) => isBefore(name, own))
      .map((rollout) => rollout.path);
  },

  last(path) {
    const own = rolloutName(basename(path));
    const files = own === undefined ? [] : filesOf(own.thread, rolloutsNear(path));
    return files.at(-1)?.path ?? path;
  },

  inherited(firstPath, first) {
    const parts: LogPart[] = [];
    const seen = new Set([firstPath]);
    for (let base = baseOf(firstPath, first); base !== undefined;) {
      const { id } = base;
      const path = rolloutsNear(firstPath).find(({ name }) => name.id === id)?.path;
      // It was removed or compressed, or the files name each other.
      if (path === undefined || seen.has(path)) break;
      seen.add(path);
      const source = opened(path);
      if (source === undefined) break;
      try {
        parts.unshift({ path, endBytes: cutIn(source, base), isOwn: false });
        base = baseOf(path, source);
      } finally {
        source.closeSync();
      }
    }
    return parts;
  },
};

/** Of a thread, oldest first; of copies, as of one that was archived, the first one found. */
function filesOf(thread: string, rollouts: readonly Rollout[]): readonly Rollout[] {
  const byId = new Map<string, Rollout>();
  for (const rollout of rollouts) {
    const { name } = rollout;
    if (name.thread === thread && !byId.has(name.id)) byId.set(name.id, rollout);
  }
  return [...byId.values()].sort((one, other) => (isBefore(one.name, other.name) ? -1 : 1));
}

/** Undefined if it cannot be read. */
function opened(path: string): FileSource | undefined {
  try {
    return openByteSource(path);
  } catch {
    return undefined;
  }
}

function isBefore(one: RolloutName, other: RolloutName): boolean {
  if (one.startedAt !== other.startedAt) return one.startedAt < other.startedAt;
  // Those of one second are made in the order of their ids.
  return one.id < other.id;
}

/** Where the part ends that another file continues: an ordinal, and where that was in bytes. */
interface Base {
  readonly id: string;
  readonly endOrdinal: number;
  readonly endBytes: number;
}

/** Another working directory in its first record shifts later offsets: then ordinals count. */
function cutIn(source: FileSource, { endOrdinal, endBytes }: Base): number {
  const to = source.sizeSync();
  const last = Buffer.alloc(1);
  const isPlace = Number.isSafeInteger(endBytes) && endBytes > 0 && endBytes <= to;
  const isRead = isPlace && source.readSync(last, 0, 1, endBytes - 1) === 1;
  if (isRead && last[0] === 10) return endBytes;
  let cut: number | undefined;
  const line: LineSink["line"] = (bytes, start, end, offset) => {
    const record = cut === undefined ? decodeLine(bytes, start, end) : undefined;
    if (record?.ok === true && countAt(record.value, "ordinal") >= endOrdinal) cut = offset;
  };
  runSync(scan(source, new LineFramer(), { line, longLine: () => undefined }, { from: 0, to }));
  return cut ?? to;
}

/** First records hold instructions, which are long. */
const firstBytesMax = 1024 * 1024;

function baseOf(path: string, source: ByteSource): Base | undefined {
  if (rolloutName(basename(path)) === undefined) return undefined;
  const line = firstLine(source);
  if (!line.includes('"history_base"')) return undefined;
  const record = decodeLine(line, 0, line.length);
  const base = record.ok ? objectAt(objectAt(record.value, "payload"), "history_base") : undefined;
  const id = stringAt(base, "thread_id");
  const endOrdinal = countAt(base, "end_ordinal_exclusive");
  return id === undefined
    ? undefined
    : { id, endOrdinal, endBytes: countAt(base, "end_byte_offset") };
}

/** Every list reads those of many files; nothing waits while it is used. */
const firstBytes = Buffer.allocUnsafe(64 * 1024);

function firstLine(source: ByteSource): Buffer {
  const head = firstBytes.subarray(0, source.readSync(firstBytes, 0, firstBytes.length, 0));
  const end = head.indexOf(10);
  if (end >= 0 || head.length < firstBytes.length) return end < 0 ? head : head.subarray(0, end);
  const longer = Buffer.allocUnsafe(firstBytesMax);
  const read = longer.subarray(0, source.readSync(longer, 0, longer.length, 0));
  const longEnd = read.indexOf(10);
  return longEnd < 0 ? read : read.subarray(0, longEnd);
}

function rolloutAt(path: string): readonly Rollout[] {
  const name = rolloutName(basename(path));
  return name === undefined ? [] : [{ path, name }];
}

interface Rollout {
  readonly path: string;
  readonly name: RolloutName;
}

/** Whether a compressed file is one of several of its thread. */
export function isPartOfThread(path: string): boolean {
  const own = rolloutName(basename(path, compressedEnd));
  if (own === undefined) return false;
  if (own.id !== own.thread) return true;
  const all = rolloutsNear(path, ["rollouts", "compressed"]);
  return all.some(({ name }) => name.thread === own.thread && name.id !== own.id);
}

/** All rollouts of its home, or of its directory if that is in none. */
function rolloutsNear(path: string, kinds: RolloutKinds = ["rollouts"]): readonly Rollout[] {
  const home = homeOf(dirname(path));
  if (home === undefined) return rolloutsBelow(dirname(path), 0, kinds);
  const places = ["sessions", "archived_sessions"].map((name) => join(home, name));
  return places.flatMap((place) => rolloutsBelow(place, 3, kinds));
}

type RolloutKinds = readonly ("rollouts" | "compressed")[];

interface ReadDirectory {
  /** Tells whether it changed since. */
  readonly stamp: string;
  readonly rollouts: readonly Rollout[];
  readonly compressed: readonly Rollout[];
  readonly directories: readonly string[];
}

/** By their paths: a list asks for many sessions. */
const known = new Map<string, ReadDirectory>();

function rolloutsBelow(directory: string, levels: number, kinds: RolloutKinds): readonly Rollout[] {
  const read = readDirectory(directory);
  const own = kinds.flatMap((kind) => read[kind]);
  if (levels === 0) return own;
  return [...own, ...read.directories.flatMap((below) => rolloutsBelow(below, levels - 1, kinds))];
}

/** Also through a link. Others are never opened: a pipe would wait for its writer. */
function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() === true;
}

/** Empty if it is missing or cannot be read. */
function readDirectory(directory: string): Omit<ReadDirectory, "stamp"> {
  try {
    const { ino, mtimeNs } = statSync(directory, { bigint: true });
    const stamp = `${ino} ${mtimeNs}`;
    const before = known.get(directory);
    if (before?.stamp === stamp) return before;
    const rollouts: Rollout[] = [];
    const compressed: Rollout[] = [];
    const directories: string[] = [];
    for (const place of readdirSync(directory, { withFileTypes: true })) {
      const path = join(directory, place.name);
      if (place.isDirectory()) directories.push(path);
      else if (place.isFile() || isFile(path)) {
        rollouts.push(...rolloutAt(path));
        if (path.endsWith(compressedEnd)) {
          const named = rolloutAt(path.slice(0, -compressedEnd.length));
          compressed.push(...named.map(({ name }) => ({ path, name })));
        }
      }
    }
    const now = { stamp, rollouts, compressed, directories };
    known.set(directory, now);
    return now;
  } catch {
    return { rollouts: [], compressed: [], directories: [] };
  }
}
