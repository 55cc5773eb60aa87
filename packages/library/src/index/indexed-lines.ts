/** The lines of a session with the words by which they are found. Pure. */
import { decodeLine } from "@branchlog/streaming";
import type { ByteSource, LineSink, LinesSink, LongLine } from "@branchlog/streaming";
import { HeaderSearch } from "@branchlog/core/rows";
import type { TranscriptFormat } from "@branchlog/core/rows";
import type { SessionEntry } from "@branchlog/core";
import { entryTexts } from "../search/entry-texts.ts";
import type { EntryText } from "../search/entry-texts.ts";
import type { SideTexts } from "../search/side-texts.ts";
import { TranscriptReader, bytesOfLong } from "../search/transcript-reader.ts";
import type { TranscriptTaker } from "../search/transcript-reader.ts";
import type { IndexedLine } from "./index-database.ts";
import { indexedWords, wordsOfUnread } from "./indexed-words.ts";

export type TakeLine = (
  line: IndexedLine,
  words: ReadonlySet<string>,
  names: readonly string[],
) => void;

/** Of a log. */
export class SessionLines implements LinesSink {
  readonly #source: ByteSource;
  readonly #header: HeaderSearch | undefined;
  readonly #take: TakeLine;

  /** @param isInside Whether the lines follow others, which had a header. */
  constructor(source: ByteSource, isInside: boolean, take: TakeLine) {
    this.#source = source;
    this.#header = isInside ? undefined : new HeaderSearch();
    this.#take = take;
  }

  /** Whether the first record was read and is not a header: nothing can match. */
  get isOver(): boolean {
    return this.#header?.isOver === true && this.#header.header === undefined;
  }

  /** Whether the first record was read. */
  get isBegun(): boolean {
    return this.#header?.isOver !== false;
  }

  get mayBeTranscript(): boolean {
    return this.#header?.mayBeTranscript === true;
  }

  addLines(bytes: Buffer, start: number, end: number, offset: number, lineNumber: number): number {
    let number = lineNumber;
    for (let at = start; at <= end; number += 1) {
      const found = bytes.indexOf(10, at);
      const lineEnd = found < 0 || found > end ? end : found;
      this.#line(bytes, at, lineEnd, { number, at: offset + at - start, bytes: lineEnd - at });
      at = lineEnd + 1;
    }
    return number - lineNumber;
  }

  /** A search parses it. */
  longLine(long: LongLine, number: number): void {
    if (this.#header?.isOver === false) {
      const bytes = bytesOfLong(this.#source, long);
      if (bytes !== undefined) this.#header.line(bytes, 0, bytes.length, long.offset);
    } else if (!this.isOver) {
      this.#take({ number, at: long.offset, bytes: long.length }, wordsOfUnread, []);
    }
  }

  #line(bytes: Buffer, start: number, end: number, line: IndexedLine): void {
    if (this.#header?.isOver === false) {
      this.#header.line(bytes, start, end, line.at);
      return;
    }
    if (this.isOver) return;
    const decoded = decodeLine(bytes, start, end);
    if (!decoded.ok) return;
    // Decoding boundary: texts are taken from entries as they are stored.
    const texts = entryTexts(decoded.value as unknown as SessionEntry);
    const words = indexedWords(texts);
    if (words.size > 0) this.#take(line, words, namesIn(texts));
  }
}

function namesIn(texts: readonly EntryText[]): readonly string[] {
  return texts.flatMap(({ kind, text }) => (kind === "name" ? [text] : []));
}

/** Of a transcript, from its start on. */
export class TranscriptLines implements LineSink, TranscriptTaker {
  readonly #reader: TranscriptReader;
  readonly #sides: SideTexts;
  readonly #take: TakeLine;
  #texts: EntryText[] = [];

  constructor(
    source: ByteSource,
    found: { readonly path: string; readonly format: TranscriptFormat; readonly sides: SideTexts },
    take: TakeLine,
  ) {
    this.#reader = new TranscriptReader(source, found, this);
    this.#sides = found.sides;
    this.#take = take;
  }

  isWanted(): boolean {
    return true;
  }

  takeEntry(entry: SessionEntry): void {
    for (const said of entryTexts(entry)) {
      this.#texts.push(said);
      const whole = said.kind === "result" ? this.#sides.wholeOf(said.text) : undefined;
      if (whole !== undefined) this.#texts.push({ ...said, text: whole });
    }
  }

  takeName(name: string): void {
    this.#texts.push({ kind: "name", text: name });
  }

  line(bytes: Buffer, start: number, end: number, offset: number, lineNumber: number): void {
    this.#reader.line(bytes, start, end, offset, lineNumber);
    const words = indexedWords(this.#texts);
    const line = { number: lineNumber, at: offset, bytes: end - start };
    if (words.size > 0) this.#take(line, words, namesIn(this.#texts));
    this.#texts = [];
  }

  longLine(long: LongLine, lineNumber: number): void {
    this.#reader.longLine(long, lineNumber);
    this.#texts = [];
    this.#take({ number: lineNumber, at: long.offset, bytes: long.length }, wordsOfUnread, []);
  }
}
