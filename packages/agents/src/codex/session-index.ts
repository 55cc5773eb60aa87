/**
 * The names that Codex gives sessions, in a file of its home: `session_index.jsonl`, a line
 * for each name. The last non-empty name of a session is its current name.
 */
import { readFileSync, statSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { decodeLine } from "@branchlog/streaming";
import { normalizeName } from "@branchlog/core/entries";
import { stringAt } from "@branchlog/core/rows";

interface ReadIndex {
  /** Tells whether it changed since. */
  readonly stamp: string;
  readonly names: ReadonlyMap<string, string>;
}

/** By their paths: a list asks once for each of its sessions. */
const read = new Map<string, ReadIndex>();

/** A line has about 120 bytes: those of half a million names. */
const indexBytesMax = 64 * 1024 * 1024;

const uuidAtEnd = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}(?=\.jsonl(?:\.zst)?$|_)/;

/** Undefined: the session at this path has no name. */
export function indexedName(path: string): string | undefined {
  const [id] = uuidAtEnd.exec(basename(path)) ?? [];
  const home = homeOf(dirname(path));
  if (id === undefined || home === undefined) return undefined;
  return namesIn(join(home, "session_index.jsonl")).get(id);
}

/** The directory that has the one for sessions. */
export function homeOf(directory: string): string | undefined {
  const above = dirname(directory);
  if (/^(?:archived_)?sessions$/.test(basename(directory))) return above;
  return above === directory ? undefined : homeOf(above);
}

/** No names, if the file is missing, damaged, or cannot be read. */
function namesIn(path: string): ReadonlyMap<string, string> {
  try {
    const stats = statSync(path, { throwIfNoEntry: false });
    if (stats === undefined) return new Map();
    const stamp = `${stats.ino} ${stats.size} ${stats.mtimeMs}`;
    const known = read.get(path);
    if (known?.stamp === stamp) return known.names;
    const isReadable = stats.isFile() && stats.size <= indexBytesMax;
    const names = isReadable ? namesOf(readFileSync(path)) : new Map<string, string>();
    read.set(path, { stamp, names });
    return names;
  } catch {
    return new Map();
  }
}

function namesOf(bytes: Buffer): ReadonlyMap<string, string> {
  const names = new Map<string, string>();
  for (let start = 0; start < bytes.length;) {
    const found = bytes.indexOf(10, start);
    const end = found < 0 ? bytes.length : found;
    const line = decodeLine(bytes, start, end);
    const id = line.ok ? stringAt(line.value, "id") : undefined;
    const name = line.ok ? normalizeName(stringAt(line.value, "thread_name") ?? "") : "";
    if (id !== undefined && name !== "") names.set(id, name);
    start = end + 1;
  }
  return names;
}
