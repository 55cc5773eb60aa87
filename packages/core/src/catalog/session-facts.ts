/**
 * The facts of one session file that a list shows, folded by the projections of the engine in one
 * streaming pass, which continues where it ended when the file has grown. Memory is a few chunks
 * and one line, whatever the size of the file. Nothing is written.
 */
import { LineFramer, chunkBytesDefault, lineBytesMaxDefault, scan } from "@branchlog/streaming";
import type { ByteSource, JsonObject } from "@branchlog/streaming";
import { dialectOfLog } from "../dialects/dialect.ts";
import type { DialectName } from "../dialects/dialect.ts";
import type { SessionEntry, SessionHeader } from "../entries/entry-types.ts";
import { transcriptKind } from "../log/foreign-transcript.ts";
import { nameInForce, sessionName } from "../projections/name.ts";
import type { GivenName } from "../projections/name.ts";
import { isDate, summary, withUnread } from "../projections/summary.ts";
import type { SessionSummary, UnreadMessages } from "../projections/summary.ts";
import { HeaderSearch } from "./header-search.ts";
import { SessionScan } from "./session-scan.ts";
import type { ScanOptions, ScanTarget } from "./session-scan.ts";
import { TranscriptScan } from "./transcript-scan.ts";
import type { TranscriptFacts } from "./transcript-scan.ts";

/** What is known of a session without its text. */
export interface SessionFacts {
  /** As stored: foreign files may lack any field but the id. */
  readonly header: SessionHeader;
  /** The name in force, white space trimmed; undefined if it has none or it was cleared. */
  readonly name: string | undefined;
  /** Messages that lack a readable envelope are counted only if they parse, others always. */
  readonly summary: SessionSummary;
  /** Which agent wrote it, by the traces that it left. */
  readonly dialect: DialectName;
  /** Where name and dialect are from. */
  readonly marks: SessionMarks;
}

/** How one read goes. */
export interface FactsReadOptions {
  /** Of the file, if it has one: the name of a transcript may have the id of its session. */
  readonly path?: string;
  /** Ends the read between two chunks: it rejects with the reason. */
  readonly signal?: AbortSignal | undefined;
  /** Memory to read into, the caller's again afterwards: spares allocations over many files. */
  readonly chunk?: Buffer | undefined;
}

/** How lines are read. */
export interface FactsOptions {
  /** Longest line that is joined in memory, in bytes. Default 16 MiB. */
  readonly lineBytesMax?: number;
  /** Longest message whose text is read, in bytes. Default 64 MiB. */
  readonly messageBytesMax?: number;
}

/** The facts of the lines before a place in a file, and which line comes next. */
interface FactsUpTo {
  readonly offset: number;
  readonly lineNumber: number;
  readonly facts: SessionFacts;
}

/** Reads the facts of one file, and reads on as it grows. After a failure it is of no use. */
export class FactsReader {
  #framer: LineFramer;
  readonly #lineBytesMax: number;
  /** Of another agent; null once the file is known to be none. */
  #transcript: TranscriptScan | null | undefined;
  readonly #header = new HeaderSearch();
  readonly #fold: FactsFold;
  /** Of a slot that another reader met. */
  readonly #slot: string | null;
  readonly #options: Pick<ScanOptions, "messageBytesMax">;

  /** @param known The result of an earlier reader, which this one continues. */
  constructor(options: FactsOptions = {}, known?: FactsUpTo) {
    const { lineBytesMax = lineBytesMaxDefault } = options;
    const { offset = 0, lineNumber = 1 } = known ?? {};
    this.#lineBytesMax = lineBytesMax;
    this.#framer = new LineFramer({ lineBytesMax, offset, lineNumber });
    if (known !== undefined) {
      // Decoding boundary: a header is an object as it was stored.
      const value = known.facts.header as unknown as JsonObject;
      this.#header.take({ ok: true, value });
    }
    this.#fold = new FactsFold(known?.facts);
    this.#slot = known?.facts.marks.slot ?? null;
    this.#options = { messageBytesMax: options.messageBytesMax };
  }

  /** How many bytes of the file were read. */
  get offset(): number {
    return this.#framer.offset;
  }

  /**
   * The facts of the first `size` bytes of the file, or undefined if it is neither a session nor a
   * transcript. Reads what was not read yet; the rest has to be what it was.
   */
  async readOn(
    source: ByteSource,
    size: number,
    options: FactsReadOptions,
  ): Promise<SessionFacts | TranscriptFacts | undefined> {
    const { signal, chunk } = options;
    const framer = this.#framer;
    const lines = new SessionScan(source, this.#fold, this.#scanOptions(this.#header));
    const newBytes = size - framer.offset;
    const target = chunk ?? Buffer.allocUnsafe(Math.max(1, Math.min(newBytes, chunkBytesDefault)));
    // Until it is known that this is a session, no more than a chunk at a time: most end with it.
    while (!this.#header.isOver && framer.offset < size) {
      const length = Math.min(target.length, size - framer.offset);
      const bytesRead = await source.read(target, 0, length, framer.offset);
      signal?.throwIfAborted();
      if (bytesRead === 0) break;
      framer.push(target.subarray(0, bytesRead), lines);
    }
    if (this.#header.isOver && this.#header.header === undefined) {
      return this.#readTranscript(source, size, options);
    }
    const from = framer.offset;
    if (from < size) await scan(source, framer, lines, { from, to: size, signal });
    // The next bytes may come in a year.
    framer.release();
    return this.#fold.keeping(() => this.#factsAtEnd(source));
  }

  /** An end without a newline is left for when it has one. */
  async #readTranscript(
    source: ByteSource,
    size: number,
    { signal, path = "" }: FactsReadOptions,
  ): Promise<TranscriptFacts | undefined> {
    if (this.#transcript === undefined) {
      const kind = this.#header.mayBeTranscript ? transcriptKind(source, size) : undefined;
      this.#transcript = kind === undefined ? null : new TranscriptScan(kind, path);
      this.#framer = new LineFramer({ lineBytesMax: this.#lineBytesMax });
    }
    if (this.#transcript === null) return undefined;
    const from = this.#framer.offset;
    const lines = this.#transcript.sink(source);
    if (from < size) await scan(source, this.#framer, lines, { from, to: size, signal });
    this.#framer.release();
    return this.#transcript.facts;
  }

  /** What another reader may continue from; undefined within a line, and without a session. */
  upTo(): FactsUpTo | undefined {
    const { offset, committedOffset, lineNumber } = this.#framer;
    const facts = this.#factsUnder(this.#header);
    return facts && offset === committedOffset ? { offset, lineNumber, facts } : undefined;
  }

  /** The end without a newline counts for now; it may be only the beginning of a line. */
  #factsAtEnd(source: ByteSource): SessionFacts | undefined {
    const header = this.#header.copy();
    const lines = new SessionScan(source, this.#fold, this.#scanOptions(header));
    lines.end(this.#framer.rest());
    return this.#factsUnder(header);
  }

  #scanOptions(header: HeaderSearch): ScanOptions {
    const knowsDialect = this.#fold.state.dialect !== undefined;
    return { ...this.#options, header, knowsDialect };
  }

  #factsUnder({ header, slotTitle }: HeaderSearch): SessionFacts | undefined {
    if (header === undefined) return undefined;
    const { summary: said, given, dialect: ofEntries } = this.#fold.state;
    const slot = slotTitle ?? this.#slot;
    const marks = { slot, entry: markOf(given), dialect: ofEntries ?? null };
    const dialect = dialectOfLog({ hasTitleSlot: slot !== null, header, ofEntries });
    return { header, name: markedName(header, marks), summary: said, dialect, marks };
  }
}

/** What the entries say. */
interface FoldedFacts {
  readonly summary: SessionSummary;
  readonly given: GivenName;
  readonly dialect: DialectName | undefined;
}

class FactsFold implements ScanTarget {
  #summary: SessionSummary;
  #given: GivenName;
  #dialect: DialectName | undefined;
  /** What is not in the summary yet: most messages, so that none of them costs an object. */
  readonly #unread: UnreadMessages = { count: 0, latestMs: 0 };

  constructor(known?: SessionFacts) {
    this.#summary = known?.summary ?? summary.initial();
    this.#given = givenBy({ entry: known?.marks.entry ?? null });
    this.#dialect = known?.marks.dialect ?? undefined;
  }

  get state(): FoldedFacts {
    const unread = this.#unread;
    this.#summary = withUnread(this.#summary, unread);
    unread.count = 0;
    unread.latestMs = 0;
    return { summary: this.#summary, given: this.#given, dialect: this.#dialect };
  }

  foundDialect(dialect: DialectName): void {
    this.#dialect = dialect;
  }

  otherMessage(): void {
    this.#unread.count += 1;
  }

  assistantMessage(timestampMs: number): void {
    this.#unread.count += 1;
    if (isDate(timestampMs) && timestampMs > this.#unread.latestMs) {
      this.#unread.latestMs = timestampMs;
    }
  }

  entry(entry: SessionEntry): void {
    // Neither fold asks which entry of the log it is.
    const record = { revision: 0, entry };
    this.#summary = summary.apply(this.#summary, record);
    this.#given = sessionName.apply(this.#given, record);
  }

  /** Forgets what comes while `read` runs. */
  keeping<T>(read: () => T): T {
    const before = this.state;
    try {
      return read();
    } finally {
      this.#unread.count = 0;
      this.#unread.latestMs = 0;
      this.#summary = before.summary;
      this.#given = before.given;
      this.#dialect = before.dialect;
    }
  }
}

/**
 * What a list has to keep of a session to continue reading where it ended: the places that name it,
 * and its dialect as far as its entries show it.
 */
export interface SessionMarks {
  /** By the title slot, "" if that is empty; null without a slot. */
  readonly slot: string | null;
  /** By the latest entry that names it, "" if that took the name away; null if none does. */
  readonly entry: string | null;
  /** The dialect of the first entry that only one agent writes; null if none does. */
  readonly dialect: DialectName | null;
}

/** What the entries name it, as it is remembered. */
function markOf(given: GivenName): string | null {
  return given === undefined ? null : (given ?? "");
}

/** The same the other way round. */
function givenBy({ entry }: Pick<SessionMarks, "entry">): GivenName {
  return entry === null ? undefined : entry || null;
}

/** The name in force. */
function markedName(header: SessionHeader, marks: SessionMarks): string | undefined {
  const slot = marks.slot === null ? undefined : { title: marks.slot, updatedAt: "" };
  return nameInForce({ slot, given: givenBy(marks), header });
}
