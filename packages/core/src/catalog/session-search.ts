/**
 * Searches for a text in the sessions of a directory, or in one: what users and assistants said,
 * names, labels. Sessions are read one after the other, latest change first, in bounded memory; a
 * hit comes as soon as it is found. Nothing is kept or written, and a file that cannot be read is
 * passed over.
 */
import { resolve } from "node:path";
import { LineFramer, chunkBytesDefault, openByteSource } from "@branchlog/streaming";
import type { FileSource, OptionNames } from "@branchlog/streaming";
import { requireOptions, requireText } from "../argument-checks.ts";
import { entryForm } from "../dialects/header.ts";
import { legacyEntryId } from "../dialects/migrate-line.ts";
import type { SessionEntry, SessionHeader } from "../entries/entry-types.ts";
import { transcriptErrorAt } from "../log/foreign-transcript.ts";
import { nameSaidBy, namingTypes } from "../projections/name.ts";
import { isStoredObject, storedText } from "../projections/stored-value.ts";
import {
  isUnlistable,
  lookAtFile,
  sessionFilesIn,
  sessionFilesInAndBelow,
} from "./session-files.ts";
import type { SessionFile } from "./session-files.ts";
import { SessionScan } from "./session-scan.ts";
import { unreadableDirectory } from "./unreadable-directory.ts";

/** One place where a query was found. */
export interface SearchHit {
  /** Of the session file, absolute. */
  readonly path: string;
  /** As stored: foreign files may lack any field but the id. */
  readonly header: SessionHeader;
  /** What it was found in. A name or label may have been replaced since. */
  readonly kind: "message" | "name" | "label";
  /** The entry that says it. */
  readonly entryId: string;
  /** The role of a message. */
  readonly role?: "user" | "assistant";
  /** The timestamp of the entry, as stored. */
  readonly timestamp: string;
  /** What is around the first match in the entry. */
  readonly snippet: Snippet;
}

/** Where to look. */
export interface SearchOptions {
  /** Whether the sessions right in sub-directories are searched, too. Default false. */
  readonly subdirectories?: boolean;
  /**
   * Called with each file or directory that is not searched because its name is not UTF-8: its
   * path, with U+FFFD for what cannot be written.
   */
  readonly onUnlisted?: (path: string) => void;
  /** Ends the search with its reason. */
  readonly signal?: AbortSignal;
}

const searchNames: OptionNames<SearchOptions> = {
  subdirectories: true,
  onUnlisted: true,
  signal: true,
};

/**
 * The hits of a query in the sessions of a directory, one for each entry at most: those of the
 * session that changed last come first, and those of one session in file order. Upper and lower
 * case are the same; in names, the query may leave characters out. An empty query has no hits.
 * O(bytes of the files).
 * @param place The directory, or one session file.
 * @throws BranchlogError `ERR_LOG_MISSING`, `ERR_LOG_UNREADABLE`, `ERR_NOT_A_SESSION` for the
 * transcript of another agent; the signal's reason.
 * @example
 * for await (const { path, snippet } of searchSessions("sessions", "red build")) {
 *   console.log(path, snippet.text);
 * }
 */
export async function* searchSessions(
  place: string,
  query: string,
  options: SearchOptions = {},
): AsyncGenerator<SearchHit, void, undefined> {
  const { signal } = requireOptions(options, searchNames);
  const search = textSearch(requireText("The query", query));
  signal?.throwIfAborted();
  const files = await filesAt(resolve(requireText("The place", place)), options);
  const chunk = Buffer.allocUnsafe(chunkBytesDefault);
  for (const { path } of files) {
    try {
      yield* hitsIn(path, search, chunk, signal);
    } catch (error) {
      signal?.throwIfAborted();
      // What the system refuses; anything else is not the fault of a file.
      if (!(error instanceof Error && "syscall" in error)) throw error;
    }
  }
}

/** The files to be searched, latest change first. */
async function filesAt(
  place: string,
  { subdirectories = false, onUnlisted, signal }: SearchOptions,
): Promise<SessionFile[]> {
  const named = lookAtFile(place);
  if (named.isReadable) {
    const foreign = transcriptErrorAt(place);
    if (foreign !== undefined) throw foreign;
    return [named];
  }
  const list = subdirectories ? sessionFilesInAndBelow : sessionFilesIn;
  try {
    const all = await list(place, signal);
    for (const file of all) if (isUnlistable(file)) onUnlisted?.(file.path);
    const files = all.filter(({ isReadable }) => isReadable);
    const byPath = (one: SessionFile, other: SessionFile): number =>
      one.path < other.path ? -1 : 1;
    return files.sort((one, other) => other.mtimeMs - one.mtimeMs || byPath(one, other));
  } catch (error) {
    throw unreadableDirectory(place, error);
  }
}

async function* hitsIn(
  path: string,
  search: TextSearch,
  chunk: Buffer,
  signal: AbortSignal | undefined,
): AsyncGenerator<SearchHit, void, undefined> {
  const source = openByteSource(path);
  try {
    for await (const found of entriesIn(source, chunk, signal)) {
      const hit = hitOf(path, search, found);
      if (hit !== undefined) yield hit;
    }
  } finally {
    source.closeSync();
  }
}

/** An entry that may be a hit. */
interface FoundEntry {
  readonly header: SessionHeader;
  readonly version: number;
  readonly entry: SessionEntry;
  readonly lineNumber: number;
}

/**
 * The entries of a session that say something, chunk by chunk; none if the file is not a session.
 */
async function* entriesIn(
  source: FileSource,
  chunk: Buffer,
  signal: AbortSignal | undefined,
): AsyncGenerator<FoundEntry, void, undefined> {
  const found: FoundEntry[] = [];
  const lines = new SessionScan(source, {
    takesLabels: true,
    otherMessage: () => {},
    entry: (entry, lineNumber) => {
      const { header, version } = lines.header;
      if (header !== undefined) found.push({ header, version, entry, lineNumber });
    },
  });
  const framer = new LineFramer();
  const size = source.sizeSync();
  while (framer.offset < size && !(lines.header.isOver && lines.header.header === undefined)) {
    const length = Math.min(chunk.length, size - framer.offset);
    const bytesRead = await source.read(chunk, 0, length, framer.offset);
    signal?.throwIfAborted();
    if (bytesRead === 0) break;
    framer.push(chunk.subarray(0, bytesRead), lines);
    yield* found.splice(0);
  }
  lines.end(framer.rest());
  yield* found;
}

function hitOf(path: string, search: TextSearch, found: FoundEntry): SearchHit | undefined {
  const { header, entry } = found;
  const said = saidBy(entry);
  if (said === undefined) return undefined;
  const { kind, role, text } = said;
  const snippet = kind === "name" ? search.inName(text) : search.inText(text);
  if (snippet === undefined) return undefined;
  const entryId = idOf(found);
  if (entryId === undefined) return undefined;
  const { timestamp } = entry;
  return { path, header, kind, entryId, ...(role && { role }), timestamp, snippet };
}

/** The id that the session has for an entry; undefined if it is not one of its entries. */
function idOf({ header, version, entry, lineNumber }: FoundEntry): string | undefined {
  if (entryForm(version) === 1) return legacyEntryId(header.id, lineNumber);
  // Decoding boundary: of the entry only its type was checked.
  const id: unknown = entry.id;
  return typeof id === "string" ? id : undefined;
}

interface Said extends Pick<SearchHit, "kind" | "role"> {
  readonly text: string;
}

function saidBy(entry: SessionEntry): Said | undefined {
  if (namingTypes.includes(entry.type)) return asSaid("name", nameSaidBy(entry));
  if (entry.type === "label") return asSaid("label", entry.label);
  const message: unknown = entry.type === "message" ? entry.message : undefined;
  if (!isStoredObject(message) || !("role" in message) || !("content" in message)) return undefined;
  const { role, content } = message;
  if (role !== "user" && role !== "assistant") return undefined;
  return { kind: "message", role, text: storedText(content, " ") };
}

function asSaid(kind: "name" | "label", text: unknown): Said | undefined {
  return typeof text === "string" ? { kind, text } : undefined;
}

// How a query is matched with texts and names, and what of a text is shown around a match. Pure.

/** A part of a text, and where in it the match is. */
export interface Snippet {
  readonly text: string;
  readonly matchStart: number;
  readonly matchEnd: number;
}

/** Searches for one query. */
interface TextSearch {
  /** What is around the first place where the text has the query, in upper or lower case. */
  readonly inText: (text: string) => Snippet | undefined;
  /** The same for a name, of which the query may leave characters out. */
  readonly inName: (name: string) => Snippet | undefined;
}

/** UTF-16 units that are shown before a match, and after it. */
const unitsBefore = 60;
const unitsAfter = 120;

/** Prepares the search for a query; white space around it does not count. Linear in each text. */
export function textSearch(query: string): TextSearch {
  const wanted = query.trim().toLowerCase();
  const letters = Array.from(wanted.replaceAll(/\s+/gu, ""));
  if (wanted === "") return { inText: () => undefined, inName: () => undefined };
  const inText = (text: string): Snippet | undefined => {
    const { folded, places } = inLowerCase(text);
    const at = folded.indexOf(wanted);
    if (at < 0) return undefined;
    return snippetOf(text, placeIn(places, at), placeIn(places, at + wanted.length));
  };
  return { inText, inName: (name) => inText(name) ?? withGaps(name, letters) };
}

/** A text in lower case, and the offsets of its units in the text if they differ. */
interface LowerCase {
  readonly folded: string;
  readonly places: readonly number[] | null;
}

function inLowerCase(text: string): LowerCase {
  const folded = text.toLowerCase();
  if (folded.length === text.length) return { folded, places: null };
  const places: number[] = [];
  let at = 0;
  let pieces = "";
  for (const character of text) {
    const lower = character.toLowerCase();
    for (let unit = 0; unit < lower.length; unit += 1) places.push(at);
    pieces += lower;
    at += character.length;
  }
  places.push(at);
  return { folded: pieces, places };
}

function placeIn(places: LowerCase["places"], at: number): number {
  return places === null ? at : (places[at] ?? at);
}

/** From the first letter to the last, if all of them are there in their order. */
function withGaps(name: string, letters: readonly string[]): Snippet | undefined {
  let [at, found, start] = [0, 0, -1];
  for (const character of name) {
    if (character.toLowerCase() === letters[found]) {
      if (found === 0) start = at;
      found += 1;
    }
    at += character.length;
    if (found === letters.length) return snippetOf(name, start, at);
  }
  return undefined;
}

function snippetOf(text: string, from: number, to: number): Snippet {
  const start = edge(text, Math.max(0, from - unitsBefore));
  const end = edge(text, Math.min(text.length, to + unitsAfter));
  return { text: text.slice(start, end), matchStart: from - start, matchEnd: to - start };
}

/** The place, or the one before it, so that no character of two surrogates is split. */
function edge(text: string, at: number): number {
  const isSplit = isLow(text.charCodeAt(at)) && at > 0 && isHigh(text.charCodeAt(at - 1));
  return isSplit ? at - 1 : at;
}

function isHigh(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff;
}

function isLow(unit: number): boolean {
  return unit >= 0xdc00 && unit <= 0xdfff;
}
