/**
 * Reads a session file for what lists show: the header, and of the entries only the bodies that
 * count, those of users and assistants and the names. All other messages are counted from their
 * envelopes, without a parse. It holds one line at a time and never fails on what a line says.
 */
import {
  EnvelopeReader,
  LineFramer,
  decodeLine,
  openByteSource,
  readRange,
  readShallow,
  scanSync,
} from "@branchlog/streaming";
import type {
  ByteSource,
  DecodedLine,
  JsonObject,
  LineRest,
  LineSink,
  LongLine,
} from "@branchlog/streaming";
import { readFullySync } from "../bodies/body-reader.ts";
import { dialectOfEntry, tellingTypes } from "../dialects/dialect.ts";
import type { DialectName } from "../dialects/dialect.ts";
import { entryForm } from "../dialects/header.ts";
import { readRecord } from "../dialects/log-record.ts";
import type { SessionEntry } from "../entries/entry-types.ts";
import { namingTypes } from "../projections/name.ts";
import { isStoredObject, storedText } from "../projections/stored-value.ts";
import { HeaderSearch } from "./header-search.ts";
import { messageBytesMax } from "./limits.ts";

/** Receives what {@link SessionScan} finds after the header, in file order. */
export interface ScanTarget {
  /** A `message` entry that is neither a user's nor an assistant's; its body was not read. */
  otherMessage(): void;
  /**
   * An assistant's `message` entry of which no more was read than its own timestamp, in epoch ms.
   * Leave it out to be given all of them whole.
   */
  assistantMessage?(timestampMs: number): void;
  /**
   * Every other `message` entry, and those that name the session, as stored: foreign ones may lack
   * any field.
   * Lines count from 1; the unterminated end of a file has the number that its line would have.
   */
  entry(entry: SessionEntry, lineNumber: number): void;
  /** Whether `label` entries are given, too. Default false. */
  readonly takesLabels?: boolean;
  /** Told of the first entry that only one agent writes. Leave it out to spare looking for it. */
  foundDialect?(dialect: DialectName): void;
}

/** How a {@link SessionScan} reads. */
export interface ScanOptions {
  /** Continues a search that has taken other lines of the file. */
  readonly header?: HeaderSearch;
  /** Longest message that is built; of longer ones only role and time are read. */
  readonly messageBytesMax?: number | undefined;
  /** Whether the dialect was found in other lines of the file. */
  readonly knowsDialect?: boolean;
}

const messageType = Buffer.from("message");
const spokenRoles = ["user", "assistant"].map((role) => Buffer.from(role));
const namingBytes = namingTypes.map((type) => Buffer.from(type));
const labelType = Buffer.from("label");
const tellingBytes = tellingTypes.map((type) => Buffer.from(type));

/** See the file comment. To be fed every line of one file, then {@link SessionScan.end}. */
export class SessionScan implements LineSink {
  readonly header: HeaderSearch;
  readonly #envelope = new EnvelopeReader();
  readonly #source: ByteSource;
  readonly #target: ScanTarget;
  readonly #messageBytesMax: number;
  /** Types that are parsed, besides messages. */
  #wanted: readonly Buffer[];
  #looksForDialect: boolean;

  /** @param source Where the lines come from: those too long to be joined are read again. */
  constructor(source: ByteSource, target: ScanTarget, options: ScanOptions = {}) {
    this.#source = source;
    this.#target = target;
    this.header = options.header ?? new HeaderSearch();
    this.#messageBytesMax = options.messageBytesMax ?? messageBytesMax;
    this.#looksForDialect = target.foundDialect !== undefined && options.knowsDialect !== true;
    this.#wanted = this.#wantedTypes();
  }

  line(bytes: Buffer, start: number, end: number, offset: number, lineNumber: number): void {
    if (this.header.header === undefined) {
      this.header.line(bytes, start, end, offset);
      return;
    }
    if (this.#envelope.read(bytes, start, end)) {
      if (this.#settle() || this.#settleAssistant(bytes, end)) return;
    }
    this.#take(decodeLine(bytes, start, end), lineNumber);
  }

  longLine(line: LongLine, lineNumber: number): void {
    if (this.header.header === undefined) {
      if (!this.header.isOver) this.header.take(this.#readLong(line));
      return;
    }
    if (this.#envelope.readLong(line) && this.#settle()) return;
    this.#take(this.#readLong(line), lineNumber);
  }

  /** The unterminated end of the file: an entry if it is one whole record. */
  end(rest: LineRest | null): void {
    if (rest === null) return;
    const { bytes, long, length, offset, lineNumber } = rest;
    if (this.header.header === undefined) {
      if (long !== null) this.longLine(long, lineNumber);
      else if (bytes !== null) this.header.line(bytes, 0, length, offset);
    } else if (long !== null) {
      // The envelope is not enough: a fragment may look whole to it.
      this.#take(this.#readLong(long), lineNumber);
    } else if (bytes !== null) {
      this.#take(decodeLine(bytes), lineNumber);
    }
  }

  /** Whether the line that the envelope was just read from needs no more than that. */
  #settle(): boolean {
    const { headBytes, typeStart, typeEnd, roleStart, roleEnd } = this.#envelope;
    if (isText(headBytes, typeStart, typeEnd, messageType)) {
      const isSpoken = spokenRoles.some((role) => isText(headBytes, roleStart, roleEnd, role));
      if (!isSpoken) this.#target.otherMessage();
      return !isSpoken;
    }
    for (const type of this.#wanted) if (isText(headBytes, typeStart, typeEnd, type)) return false;
    return true;
  }

  #wantedTypes(): readonly Buffer[] {
    const labels = this.#target.takesLabels === true ? [labelType] : [];
    return [...namingBytes, ...labels, ...(this.#looksForDialect ? tellingBytes : [])];
  }

  #settleAssistant(bytes: Buffer, end: number): boolean {
    if (this.#target.assistantMessage === undefined) return false;
    const timestampMs = assistantTimeMs(this.#envelope, bytes, end);
    if (Number.isNaN(timestampMs)) return false;
    this.#target.assistantMessage(timestampMs);
    return true;
  }

  #take(line: DecodedLine, lineNumber: number): void {
    if (!line.ok) return;
    const dialect = this.#looksForDialect ? dialectOfEntry(line.value) : undefined;
    if (dialect !== undefined) {
      this.#looksForDialect = false;
      this.#wanted = this.#wantedTypes();
      this.#target.foundDialect?.(dialect);
    }
    const { value } = line;
    const { type } = value;
    const isNaming = typeof type === "string" && namingTypes.includes(type);
    const isLabel = type === "label" && this.#target.takesLabels === true;
    if (type !== "message" && !isNaming && !isLabel) return;
    // What has no id is no entry that could name anything, except where none has one.
    const form = entryForm(this.header.version);
    if (isNaming && readRecord(value, form).kind !== "entry") return;
    // Decoding boundary: projections expect that stored entries lack what their types promise.
    this.#target.entry(value as unknown as SessionEntry, lineNumber);
  }

  #readLong(line: LongLine): DecodedLine {
    const { offset, length } = line;
    if (length <= this.#messageBytesMax) {
      const bytes = Buffer.allocUnsafe(length);
      readFullySync(this.#source, bytes, length, offset);
      return decodeLine(bytes);
    }
    const facts = readShallow(readRange(this.#source, offset, length), { open: ["message"] });
    return facts.ok ? { ok: true, value: withContent(facts.value) } : facts;
  }
}

function isText(bytes: Buffer, start: number, end: number, text: Buffer): boolean {
  if (end - start !== text.length) return false;
  for (let i = 0; i < text.length; i += 1) if (bytes[start + i] !== text[i]) return false;
  return true;
}

/** Content too long to be read is content all the same: a message without any has no time. */
function withContent(value: JsonObject): JsonObject {
  const message = value["message"];
  if (typeof message !== "object" || message === null || Array.isArray(message)) return value;
  if ("content" in message) return value;
  return { ...value, message: { ...message, content: [] } };
}

// Reads when an assistant spoke from the end of its line, without parsing the message. Only lines
// in pi's key order are answered: content right after the role, and stopReason and timestamp as the
// last keys of the message, which is the last of the record. Everything else is to be parsed. As
// with envelopes, keys that a record has twice are not defended against.

const assistantText = Buffer.from("assistant");
const contentText = Buffer.from('","content":[');
const timestampText = Buffer.from(',"timestamp":');
const stopReasonText = Buffer.from('"stopReason":"');

const quote = 0x22;
const zero = 0x30;
const carriageReturn = 0x0d;
/** More digits might not be exact as a number. */
const digitsMax = 15;

/**
 * The message timestamp, in epoch ms, of the line `bytes[start, end)` that `envelope` was just read
 * from; NaN if the line is not an assistant message of this form.
 */
export function assistantTimeMs(envelope: EnvelopeReader, bytes: Buffer, end: number): number {
  const { form, roleStart, roleEnd, endsWithObject } = envelope;
  if (form !== "head" || !endsWithObject) return Number.NaN;
  if (roleEnd - roleStart !== assistantText.length) return Number.NaN;
  if (!isTextAt(bytes, roleStart, assistantText)) return Number.NaN;
  if (!isTextAt(bytes, roleEnd, contentText)) return Number.NaN;
  const last = bytes[end - 1] === carriageReturn ? end - 3 : end - 2;
  let first = last;
  while (isDigit(bytes[first - 1])) first -= 1;
  const hasNumber = first < last && last - first <= digitsMax && bytes[first] !== zero;
  const keyStart = first - timestampText.length;
  if (!hasNumber || !isTextAt(bytes, keyStart, timestampText)) return Number.NaN;
  return isStopReasonBefore(bytes, keyStart) ? numberIn(bytes, first, last) : Number.NaN;
}

function isStopReasonBefore(bytes: Buffer, end: number): boolean {
  if (bytes[end - 1] !== quote) return false;
  let first = end - 1;
  while (isLetter(bytes[first - 1])) first -= 1;
  return isTextAt(bytes, first - stopReasonText.length, stopReasonText);
}

function isTextAt(bytes: Buffer, at: number, text: Buffer): boolean {
  for (let i = 0; i < text.length; i += 1) if (bytes[at + i] !== text[i]) return false;
  return true;
}

function isDigit(byte: number | undefined): boolean {
  return byte !== undefined && byte >= zero && byte <= zero + 9;
}

function isLetter(byte: number | undefined): boolean {
  return byte !== undefined && byte >= 0x41 && byte <= 0x7a && (byte >= 0x61 || byte <= 0x5a);
}

function numberIn(bytes: Buffer, start: number, end: number): number {
  let value = 0;
  for (let i = start; i < end; i += 1) value = value * 10 + ((bytes[i] ?? zero) - zero);
  return value;
}

// The text of the messages of a session, for searching. It is read from the file on each call,
// because the text of all sessions of a directory is too much to keep.

/**
 * The texts of all user and assistant messages, on every branch, in file order, joined by a space;
 * empty ones are left out, and "" means that nothing was said or that the file is no session.
 * Blocks of messages over `messageBytesMax` are not read. Synchronous, O(bytes of the file).
 * @throws What opening and reading throw; the path must not be a pipe.
 */
export function readSessionTextSync(path: string): string {
  const source = openByteSource(path);
  try {
    const texts: string[] = [];
    const lines = new SessionScan(source, {
      otherMessage: () => {},
      entry: (entry) => {
        const text = spokenText(entry);
        if (text !== "") texts.push(text);
      },
    });
    const framer = new LineFramer();
    scanSync(source, framer, lines, { from: 0, to: source.sizeSync() });
    lines.end(framer.rest());
    return texts.join(" ");
  } finally {
    source.closeSync();
  }
}

function spokenText(entry: SessionEntry): string {
  const message: unknown = entry.type === "message" ? entry.message : undefined;
  if (!isStoredObject(message) || !("role" in message) || !("content" in message)) return "";
  if (message.role !== "user" && message.role !== "assistant") return "";
  return storedText(message.content, " ");
}
