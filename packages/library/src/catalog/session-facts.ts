/**
 * What a list shows of a session file, folded in one streaming pass that resumes when the file
 * grows. Memory: a few chunks and one line.
 */
import {
  LineFramer,
  chunkBytesDefault,
  lineBytesMaxDefault,
  runAsync,
  scan,
} from "@branchlog/streaming";
import type { ByteSource, JsonObject, ScannedAnswer } from "@branchlog/streaming";
import {
  dialectOfLog,
  readableFormat,
  nameInForce,
  sessionName,
  isDate,
  summary,
  withUnread,
  HeaderSearch,
  isStoredObject,
  storedText,
} from "@branchlog/core/rows";
import { dialectFinder } from "@branchlog/core/files";
import type { DialectName } from "@branchlog/core/entries";
import type { SessionEntry, SessionHeader } from "@branchlog/core";
import type { GivenName } from "@branchlog/core/rows";
import type { SessionSummary } from "@branchlog/core/types";
import { ActivityFold } from "./listed-activity.ts";
import type { ActivityMarks, EntryName, ListedActivity } from "./listed-activity.ts";
import { UsageFold } from "./listed-usage.ts";
import type { ListedUsage } from "./listed-usage.ts";
import { SessionScan } from "./session-scan.ts";
import type { ScanOptions, ScanTarget } from "./session-scan.ts";
import { TranscriptScan } from "./transcript-scan.ts";
import type { TranscriptFacts } from "./transcript-scan.ts";

export interface SessionFacts {
  /** As stored: foreign files may lack any field but the id. */
  readonly header: SessionHeader;
  /** In force and trimmed; undefined if absent or cleared. */
  readonly name: string | undefined;
  /** Messages without a readable envelope are counted only if they parse. */
  readonly summary: SessionSummary;
  readonly usage: ListedUsage;
  readonly activity: ListedActivity;
  /** By the marks that agents leave in the file. */
  readonly dialect: DialectName;
  /** The sources of name and dialect. */
  readonly marks: SessionMarks;
}

export interface FactsReadOptions {
  /** The name of a transcript may hold the id of its session; the place may tell the dialect. */
  readonly path?: string;
  /** Called if nothing in the file determines the dialect. Default: where agents keep sessions. */
  readonly dialectAt?: (path: string) => DialectName | undefined;
  /** Checked between chunks; rejects with the reason. */
  readonly signal?: AbortSignal | undefined;
  readonly chunk?: Buffer | undefined;
}

export interface FactsOptions {
  /** Longest line joined in memory, in bytes. Default 16 MiB. */
  readonly lineBytesMax?: number;
  /** Longest message whose text is read, in bytes. Default 64 MiB. */
  readonly messageBytesMax?: number;
}

interface FactsUpTo {
  readonly offset: number;
  readonly lineNumber: number;
  readonly facts: SessionFacts;
}

/** Unusable after a failure. */
export class FactsReader {
  #framer: LineFramer;
  readonly #lineBytesMax: number;
  /** Null once the file is known not to be a transcript. */
  #transcript: TranscriptScan | null | undefined;
  readonly #header = new HeaderSearch();
  readonly #fold: FactsFold;
  /** Of a slot that an earlier reader read. */
  readonly #slot: string | null;
  readonly #options: Pick<ScanOptions, "messageBytesMax">;
  #path: string | undefined;
  #dialectAt: (path: string) => DialectName | undefined = (path) => dialectFinder()(path);

  /** @param known From an earlier reader, which this one continues. */
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

  get offset(): number {
    return this.#framer.offset;
  }

  /**
   * The facts of the first `size` bytes, or undefined for neither a session nor a transcript. Reads
   * only new bytes; the earlier ones must be unchanged.
   */
  async readOn(
    source: ByteSource,
    size: number,
    options: FactsReadOptions,
  ): Promise<SessionFacts | TranscriptFacts | undefined> {
    const { signal, chunk } = options;
    this.#path = options.path;
    this.#dialectAt = options.dialectAt ?? this.#dialectAt;
    const framer = this.#framer;
    const lines = new SessionScan(source, this.#fold, this.#scanOptions(this.#header));
    const newBytes = size - framer.offset;
    const target = chunk ?? Buffer.allocUnsafe(Math.max(1, Math.min(newBytes, chunkBytesDefault)));
    // Until the header is found, a chunk at a time: most searches end with the first.
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
    if (from < size) await runAsync(scan(source, framer, lines, { from, to: size }), signal);
    // The next bytes may arrive much later.
    framer.release();
    if (framer.rest() === null) return this.#factsUnder(this.#header);
    return this.#fold.keeping(() => this.#factsAtEnd(source));
  }

  /** An unterminated last line is left until it has its newline. */
  async #readTranscript(
    source: ByteSource,
    size: number,
    { signal, path = "" }: FactsReadOptions,
  ): Promise<TranscriptFacts | undefined> {
    if (this.#transcript === undefined) {
      const format = this.#header.mayBeTranscript ? readableFormat(source, size) : undefined;
      this.#transcript = format === undefined ? null : new TranscriptScan(format, path);
      this.#framer = new LineFramer({ lineBytesMax: this.#lineBytesMax });
    }
    if (this.#transcript === null) return undefined;
    const from = this.#framer.offset;
    const lines = this.#transcript.sink(source);
    if (from < size) await runAsync(scan(source, this.#framer, lines, { from, to: size }), signal);
    this.#framer.release();
    return this.#transcript.facts;
  }

  /** Where another reader may continue; undefined within a line, and without a session. */
  upTo(): FactsUpTo | undefined {
    const { offset, committedOffset, lineNumber } = this.#framer;
    const facts = this.#factsUnder(this.#header);
    return facts && offset === committedOffset ? { offset, lineNumber, facts } : undefined;
  }

  /** The unterminated end counts for now, but may be the beginning of a longer line. */
  #factsAtEnd(source: ByteSource): SessionFacts | undefined {
    const header = this.#header.copy();
    const lines = new SessionScan(source, this.#fold, this.#scanOptions(header));
    lines.end(this.#framer.rest());
    return this.#factsUnder(header);
  }

  #scanOptions(header: HeaderSearch): ScanOptions {
    const { knowsDialect } = this.#fold;
    return { ...this.#options, header, knowsDialect };
  }

  #factsUnder({ header, slotTitle }: HeaderSearch): SessionFacts | undefined {
    if (header === undefined) return undefined;
    const { summary: said, usage, given, dialect: ofEntries, activity, tree } = this.#fold.state;
    const slot = slotTitle ?? this.#slot;
    const marks = { slot, entry: markOf(given), dialect: ofEntries ?? null, tree };
    const path = this.#path;
    const ofPlace = path === undefined ? undefined : () => this.#dialectAt(path);
    const dialect = dialectOfLog({ hasTitleSlot: slot !== null, header, ofEntries, ofPlace });
    const name = markedName(header, marks);
    return { header, name, summary: said, usage, activity, dialect, marks };
  }
}

interface FoldedFacts {
  readonly summary: SessionSummary;
  readonly usage: ListedUsage;
  readonly activity: ListedActivity;
  readonly tree: ActivityMarks;
  readonly given: GivenName;
  readonly dialect: DialectName | undefined;
}

class FactsFold implements ScanTarget {
  #summary: SessionSummary;
  #usage: UsageFold;
  #activity: ActivityFold;
  #given: GivenName;
  #dialect: DialectName | undefined;
  /** Not in the summary yet: most messages, batched so that none costs an object. */
  readonly #unread = { count: 0, latestMs: 0 };

  constructor(known?: SessionFacts) {
    this.#summary = known?.summary ?? summary.initial();
    this.#usage = new UsageFold(known?.usage);
    this.#activity = new ActivityFold(known?.activity, known?.marks.tree);
    this.#given = givenBy({ entry: known?.marks.entry ?? null });
    this.#dialect = known?.marks.dialect ?? undefined;
  }

  get state(): FoldedFacts {
    const unread = this.#unread;
    this.#summary = withUnread(this.#summary, unread);
    unread.count = 0;
    unread.latestMs = 0;
    const [usage, dialect] = [this.#usage.value, this.#dialect];
    const { value: activity, marks: tree } = this.#activity;
    return { summary: this.#summary, usage, activity, tree, given: this.#given, dialect };
  }

  get knowsDialect(): boolean {
    return this.#dialect !== undefined;
  }

  foundDialect(dialect: DialectName): void {
    this.#dialect = dialect;
  }

  place(name: EntryName | null, parent: EntryName | null, timeMs: number): void {
    if (name === null) this.#activity.unnamed(timeMs);
    else this.#activity.entry(name, parent, timeMs);
  }

  otherMessage(): void {
    this.#unread.count += 1;
  }

  answer(answer: ScannedAnswer): void {
    const { timestampMs } = answer;
    this.#usage.answer(answer);
    this.#unread.count += 1;
    if (isDate(timestampMs) && timestampMs > this.#unread.latestMs) {
      this.#unread.latestMs = timestampMs;
    }
  }

  entry(entry: SessionEntry, _lineNumber: number, isEntry: boolean): void {
    if (isEntry) {
      this.#usage.entry(entry);
      if (isAsked(entry)) this.#activity.turn(this.#promptIn(entry));
    }
    // Neither fold reads the revision.
    const record = { revision: 0, entry };
    this.#summary = summary.apply(this.#summary, record);
    this.#given = sessionName.apply(this.#given, record);
  }

  #promptIn(entry: SessionEntry): string | undefined {
    if (!this.#activity.wantsPrompt) return undefined;
    const message: unknown = Reflect.get(entry, "message");
    return isStoredObject(message) ? storedText(Reflect.get(message, "content"), " ") : undefined;
  }

  /** Restores the state after `read`. */
  keeping<T>(read: () => T): T {
    const before = this.state;
    try {
      return read();
    } finally {
      this.#unread.count = 0;
      this.#unread.latestMs = 0;
      this.#summary = before.summary;
      this.#usage = new UsageFold(before.usage);
      this.#activity = new ActivityFold(before.activity, before.tree);
      this.#given = before.given;
      this.#dialect = before.dialect;
    }
  }
}

/** What a list keeps to resume reading: the sources of the name, and the dialect. */
export interface SessionMarks {
  /** "" for an empty title slot; null without a slot. */
  readonly slot: string | null;
  /** By the latest entry that names it: "" if cleared, null if no entry does. */
  readonly entry: string | null;
  /** Of the first entry that only one agent writes; else null. */
  readonly dialect: DialectName | null;
  readonly tree: ActivityMarks;
}

function isAsked(entry: SessionEntry): boolean {
  // Decoding boundary: foreign files hold messages that are null.
  const message: unknown = entry.type === "message" ? entry.message : undefined;
  return isStoredObject(message) && Reflect.get(message, "role") === "user";
}

function markOf(given: GivenName): string | null {
  return given === undefined ? null : (given ?? "");
}

function givenBy({ entry }: Pick<SessionMarks, "entry">): GivenName {
  return entry === null ? undefined : entry || null;
}

function markedName(
  header: SessionHeader,
  marks: Pick<SessionMarks, "slot" | "entry">,
): string | undefined {
  const slot = marks.slot === null ? undefined : { title: marks.slot, updatedAt: "" };
  return nameInForce({ slot, given: givenBy(marks), header });
}
