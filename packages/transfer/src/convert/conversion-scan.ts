/**
 * The first pass over a session that is converted: where the lines are that may have to change,
 * what the session is called, and in which dialect it will be. Everything else is passed over
 * without a parse, as indexing does; memory is a few numbers for each such line, and none for an
 * entry, which an index would need.
 */
import { decodeLine, EnvelopeReader, readRange, readShallow } from "@branchlog/streaming";
import type {
  ByteSource,
  DecodedLine,
  JsonObject,
  LineRest,
  LineSink,
  LongLine,
} from "@branchlog/streaming";
import type { DialectName } from "@branchlog/core/entries";
import { readHeader, tellingTypes, titleSlotBytes, titleSlotOf } from "@branchlog/core/internal";
import type { IndexedHeader } from "@branchlog/core/internal";
import { convertibleTypes, dialectOfConverted, nameIn, replayedThrough } from "./convert-entry.ts";
import type { ConversionTarget } from "./convert-entry.ts";

/** Where a line is; `length` does not count its newline. */
export interface LinePlace {
  readonly offset: number;
  readonly length: number;
}

/** The header of a session, and where it is. */
type ScannedHeader = Omit<IndexedHeader, "lineNumber">;

/** The title slot of a session, and where it is. */
interface ScannedSlot extends LinePlace {
  /** "" if it holds none. */
  readonly title: string;
  /** When it was set, as stored. */
  readonly updatedAt: string;
}

/** See the file comment. To be fed every line, then {@link ConversionScan.end}. */
export class ConversionScan implements LineSink {
  readonly #source: ByteSource;
  readonly #to: ConversionTarget;
  readonly #envelope = new EnvelopeReader();
  /** Offsets and lengths by turns: pairs would take four times the memory. */
  readonly #places: number[] = [];
  header: ScannedHeader | undefined;
  slot: ScannedSlot | undefined;
  /** What the last entry that names the session says; undefined if none does. */
  name: string | undefined;
  /** Of the first entry that only one of the agents writes, once it is converted. */
  ofEntries: DialectName | undefined;
  entries = 0;
  /** Entries that let a model of omp see only what follows them. */
  resets = 0;
  /** Whether a compaction says what it keeps by what is replayed. */
  hasReplays = false;
  /** Lines that hold no record. */
  badLines = 0;
  /** Records before the header that look like entries. */
  entriesBeforeHeader = 0;

  /** @param source Where the lines come from: those too long to be joined are read again. */
  constructor(source: ByteSource, to: ConversionTarget) {
    this.#source = source;
    this.#to = to;
  }

  /** The lines that may have to change, in file order. */
  *places(): Generator<LinePlace> {
    for (let i = 0; i < this.#places.length; i += 2) {
      yield { offset: this.#places[i] ?? 0, length: this.#places[i + 1] ?? 0 };
    }
  }

  line(bytes: Buffer, start: number, end: number, offset: number): void {
    if (this.header !== undefined && this.#envelope.read(bytes, start, end)) {
      if (this.#settle()) return;
    }
    this.#take(decodeLine(bytes, start, end), { offset, length: end - start });
  }

  longLine({ offset, length }: Pick<LongLine, "offset" | "length">): void {
    const chunks = readRange(this.#source, offset, length);
    this.#take(readShallow(chunks, {}), { offset, length });
  }

  /** The end of the file without its newline, if there is one. */
  end(rest: LineRest | null): void {
    if (rest === null) return;
    const { bytes, long } = rest;
    if (long !== null) this.longLine(long);
    else if (bytes !== null) this.#take(decodeLine(bytes), rest);
  }

  /** Whether the line that the envelope was just read from needs no more than that. */
  #settle(): boolean {
    const { headBytes, typeStart, typeEnd } = this.#envelope;
    for (const type of lookedAtBytes) {
      const isSame = type.length === typeEnd - typeStart;
      if (isSame && type.compare(headBytes, typeStart, typeEnd) === 0) return false;
    }
    this.entries += 1;
    return true;
  }

  #take(line: DecodedLine, place: LinePlace): void {
    if (!line.ok) {
      if (line.reason !== "blank") this.badLines += 1;
      return;
    }
    if (this.header === undefined) this.#takeFirst(line.value, place);
    else this.#takeEntry(line.value, place);
  }

  #takeFirst(value: JsonObject, { offset, length }: LinePlace): void {
    const reading = readHeader(value);
    if (reading.kind === "header") {
      const { header, version } = reading;
      this.header = { offset, length, header, version };
      return;
    }
    const isSlot = offset === 0 && length === titleSlotBytes - 1;
    const slot = isSlot ? titleSlotOf(value) : undefined;
    if (slot !== undefined) {
      const { title, updatedAt } = slot;
      this.slot ??= { offset, length, title: title.trim(), updatedAt };
    } else if (typeof value["id"] === "string" || "message" in value) this.entriesBeforeHeader += 1;
  }

  #takeEntry(value: JsonObject, { offset, length }: LinePlace): void {
    const { type, id } = value;
    if (typeof type !== "string" || typeof id !== "string" || type === "session") return;
    this.entries += 1;
    if (tellingTypes.includes(type)) this.ofEntries ??= dialectOfConverted(value, this.#to);
    if (type === "reset_boundary") this.resets += 1;
    if (!convertibleTypes.has(type)) return;
    if (replayedThrough(value) !== undefined) this.hasReplays = true;
    this.#places.push(offset, length);
    this.name = nameIn(value) ?? this.name;
  }
}

const lookedAtBytes = [...new Set([...convertibleTypes, ...tellingTypes])].map((type) =>
  Buffer.from(type),
);
