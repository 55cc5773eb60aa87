/**
 * Reads a file for its hits: all of it, or the indexed lines that may match and the rest after
 * them. Hits are yielded as they are found, in file order.
 */
import { LineFramer } from "@branchlog/streaming";
import type { ByteSource } from "@branchlog/streaming";
import { agentNamed, readableFormat } from "@branchlog/core/rows";
import type { IndexedPart, WithoutMatch } from "../index/index-lookup.ts";
import { Candidates, SessionMatches, TranscriptMatches } from "./file-matches.ts";
import type { Matches, SearchedSource } from "./file-matches.ts";
import { SideTexts } from "./side-texts.ts";
import type { Search, SearchHit } from "./search-terms.ts";

export interface Reading {
  readonly chunk: Buffer;
  readonly signal: AbortSignal | undefined;
}

interface PassedSource extends SearchedSource {
  /** What the index says of it. Default: nothing. */
  readonly part?: IndexedPart | undefined;
}

type Hits = AsyncGenerator<SearchHit, void, undefined>;

export async function* hitsIn(searched: PassedSource, search: Search, reading: Reading): Hits {
  const { path, source, size, owner, part, inherited = 0 } = searched;
  if (owner !== undefined && !search.includes(owner)) return;
  const session = new SessionMatches(source, searched, search);
  yield* hitsOf(session, searched, reading);
  const format = session.mayBeTranscript ? readableFormat(source, size) : undefined;
  if (format === undefined || !search.includes(format.agent)) return;
  const whole = { ...searched, part: undefined };
  const sides = new SideTexts(path, format.agent);
  const mentioned = sideNames(sides, search, part?.sides);
  const candidates = new Candidates(search.transcriptLines, inherited, mentioned);
  yield* hitsOf(candidates, mentioned.length > 0 ? whole : searched, reading);
  if (part !== undefined && !sides.isEmpty) candidates.addSideLines(part.candidates);
  const name = format.indexedName?.(path);
  const isNamed = name !== undefined && search.matchName(name, "") !== undefined;
  if (candidates.isEmpty && !isNamed) return;
  const found = { path, format, search, candidates, sides, inherited, name };
  const transcript = new TranscriptMatches(source, found, isNamed);
  yield* hitsOf(transcript, whole, reading);
  transcript.end();
  yield* transcript.hits.splice(0);
}

/**
 * Names of files next to the session that match.
 * @param indexed The stamp of those whose texts are indexed with the lines that name them.
 */
function sideNames(
  sides: SideTexts,
  search: Search,
  indexed: string | undefined,
): readonly string[] {
  if (!search.takesResults || sides.isEmpty) return [];
  if (indexed !== undefined && indexed === sides.stamp()) return [];
  return sides.names((side) => search.isInFile(side));
}

/** Whether other files may give a match to a transcript that has none by the index. */
export function mayMatchBeside(
  path: string,
  { agent, sides }: WithoutMatch,
  search: Search,
): boolean {
  const format = agentNamed(agent)?.transcripts;
  if (format === undefined) return agent !== "";
  const name = format.indexedName?.(path);
  if (name !== undefined && search.matchName(name, "") !== undefined) return true;
  return sideNames(new SideTexts(path, agent), search, sides).length > 0;
}

const firstReadBytes = 64 * 1024;

async function* hitsOf(
  matches: Matches,
  { source, size, part }: PassedSource,
  { chunk, signal }: Reading,
): Hits {
  const { sink } = matches;
  let framer = new LineFramer();
  const reads = async (end: number): Promise<boolean> => {
    // Of most transcripts the first search needs the first record only.
    const atOnceBytes = framer.offset === 0 ? firstReadBytes : chunk.length;
    const length = Math.min(atOnceBytes, end - framer.offset);
    if (length <= 0 || matches.isOver) return false;
    const bytesRead = await source.read(chunk, 0, length, framer.offset);
    signal?.throwIfAborted();
    if (bytesRead === 0) return false;
    framer.push(chunk.subarray(0, bytesRead), sink);
    return true;
  };
  const isWanted = (): boolean => part === undefined || matches.needsStart;
  while (isWanted() && (await reads(size))) yield* matches.hits.splice(0);
  for (const range of part === undefined ? [] : rangesOf(part, size)) {
    // The bytes read for the header were also searched.
    const { committedOffset: offset, lineNumber } = framer;
    if (range.end <= offset) continue;
    if (range.offset < offset) framer = new LineFramer({ offset, lineNumber });
    else if (isLineStart(source, range.offset)) framer = new LineFramer(range);
    // Else the file was changed in place: all of the rest is read.
    const end = range.offset < offset || framer.offset === range.offset ? range.end : size;
    while (await reads(end)) yield* matches.hits.splice(0);
  }
  // The unterminated end may be a whole record.
  const rest = matches.isOver ? null : framer.rest();
  if (rest?.long) sink.longLine(rest.long, rest.lineNumber);
  else if (rest?.bytes) {
    const { bytes, length, offset, lineNumber } = rest;
    if ("line" in sink) sink.line(bytes, 0, length, offset, lineNumber);
    else sink.addLines(bytes, 0, length, offset, lineNumber);
  }
  yield* matches.hits.splice(0);
}

interface LineRange {
  readonly offset: number;
  readonly lineNumber: number;
  readonly end: number;
}

/** Lines so near to each other are read together. */
const gapBytesMax = 32 * 1024;

/** The lines that may match, and the unindexed rest. */
function rangesOf({ candidates, cursor, lines }: IndexedPart, size: number): readonly LineRange[] {
  const ranges: LineRange[] = [];
  const add = ({ offset, lineNumber, end }: LineRange): void => {
    const last = ranges.at(-1);
    if (last !== undefined && offset - last.end <= gapBytesMax) {
      ranges[ranges.length - 1] = { ...last, end };
    } else ranges.push({ offset, lineNumber, end });
  };
  for (const { at, bytes, number } of candidates) {
    add({ offset: at, lineNumber: number, end: at + bytes + 1 });
  }
  if (cursor < size) add({ offset: cursor, lineNumber: lines + 1, end: size });
  return ranges;
}

function isLineStart(source: ByteSource, offset: number): boolean {
  if (offset === 0) return true;
  const before = Buffer.alloc(1);
  return source.readSync(before, 0, 1, offset - 1) === 1 && before[0] === 10;
}
