/** Reads a transcript from its start, since the meaning of a record depends on earlier ones. */
import { decodeLine, readFullySync } from "@branchlog/streaming";
import type { ByteSource, JsonObject, LineSink, LongLine } from "@branchlog/streaming";
import { placeOf, stringAt, transcriptRecords } from "@branchlog/core/rows";
import type {
  Transcript,
  TranscriptFormat,
  TranscriptRecord,
  TranscriptRow,
} from "@branchlog/core/rows";
import type { SessionEntry } from "@branchlog/core";
import { messageBytesMax } from "../catalog/limits.ts";

export interface TranscriptTaker {
  /** Whether the entries of a line are made. */
  isWanted(lineNumber: number): boolean;
  takeEntry(entry: SessionEntry, id: string, timestamp: string): void;
  /** A wanted line gives the session another name. */
  takeName(name: string, timestamp: string): void;
}

/** As many as bodies are read with. */
const recentRecordsMax = 64;

export class TranscriptReader implements LineSink {
  readonly transcript: Transcript;
  readonly #source: ByteSource;
  readonly #taker: TranscriptTaker;
  readonly #ids = new Set<string>();
  /** Records of the entries before, the nearest last: they name the tool of a result. */
  readonly #recent: JsonObject[] = [];
  #name: string | undefined;
  #lineNumber = 0;

  constructor(
    source: ByteSource,
    { path, format }: { readonly path: string; readonly format: TranscriptFormat },
    taker: TranscriptTaker,
  ) {
    this.#source = source;
    this.#taker = taker;
    this.transcript = format.read(path, (id) => this.#ids.has(id));
  }

  /** Of the last line. */
  get lineNumber(): number {
    return this.#lineNumber;
  }

  line(bytes: Buffer, start: number, end: number, _offset: number, lineNumber: number): void {
    this.#read(transcriptRecords(bytes, start, end, lineNumber), lineNumber);
  }

  /** As the index, without the records in a damaged one. */
  longLine(long: LongLine, lineNumber: number): void {
    const bytes = bytesOfLong(this.#source, long);
    const line = bytes && decodeLine(bytes);
    this.#read(line?.ok === true ? [{ value: line.value, line: lineNumber }] : [], lineNumber);
  }

  #read(records: Iterable<Pick<TranscriptRecord, "value" | "line">>, lineNumber: number): void {
    this.#lineNumber = lineNumber;
    const isWanted = this.#taker.isWanted(lineNumber);
    for (const { value, line } of records) {
      const rows = this.transcript.add(value, line);
      for (const row of rows) {
        this.#ids.add(row.id);
        if (isWanted) this.#take(value, row);
      }
      if (rows.length > 0) this.#recent.push(value);
      if (this.#recent.length > recentRecordsMax) this.#recent.shift();
      const { name, header } = this.transcript;
      if (name === undefined || name === this.#name) continue;
      this.#name = name;
      const timestamp = stringAt(value, "timestamp") ?? header?.timestamp ?? "";
      if (isWanted) this.#taker.takeName(name, timestamp);
    }
  }

  #take(record: JsonObject, row: TranscriptRow): void {
    const place = placeOf(row, () => this.#recent.toReversed());
    // Decoding boundary: made by the transcript, in the form of an entry.
    const entry = this.transcript.entryOf(record, place) as unknown as SessionEntry | undefined;
    if (entry !== undefined) this.#taker.takeEntry(entry, row.id, place.timestamp);
  }
}

/** For lines too long to be joined; undefined if too long for a string. */
export function bytesOfLong(source: ByteSource, { offset, length }: LongLine): Buffer | undefined {
  if (length > messageBytesMax) return undefined;
  return readFullySync(source, Buffer.allocUnsafe(length), offset);
}
