/**
 * Reads of a session file what lists show: the header, and the bodies of user and assistant
 * messages and of names. Other messages are counted by their envelopes, without a parse. Holds one
 * line at a time; never fails on the content of a line.
 */
import {
  LineFramer,
  decodeLine,
  openByteSource,
  readFullySync,
  readRange,
  readShallow,
  scanFlags,
  scanLines,
  scanLongLine,
  runSync,
  scan,
} from "@branchlog/streaming";
import type {
  ByteSource,
  DecodedLine,
  JsonObject,
  LineRest,
  LinesSink,
  LongLine,
  ScannedKind,
  ScannedRows,
} from "@branchlog/streaming";
import {
  dialectOfEntry,
  dialectMarkers,
  entryForm,
  readRecord,
  namingTypes,
  isStoredObject,
  storedText,
} from "@branchlog/core/rows";
import type { DialectName } from "@branchlog/core/entries";
import type { SessionEntry } from "@branchlog/core";
import { HeaderSearch } from "./header-search.ts";
import { messageBytesMax } from "./limits.ts";

/** Receives the entries after the header, in file order. */
export interface ScanTarget {
  /** A message of another role; its body was not read. */
  otherMessage(): void;
  /**
   * A message of which only its own timestamp (epoch ms) was read. Omit it to get all of them
   * whole.
   */
  assistantMessage?(timestampMs: number): void;
  /**
   * Every other message, and naming entries, as stored. An unterminated last line has the next
   * number.
   */
  entry(entry: SessionEntry, lineNumber: number): void;
  /** Called with the first entry that only one agent writes. */
  foundDialect?(dialect: DialectName): void;
}

export interface ScanOptions {
  /** Continues a search over earlier lines. */
  readonly header?: HeaderSearch;
  /** Of longer messages only role and time are read. */
  readonly messageBytesMax?: number | undefined;
  /** Whether the dialect was found in earlier lines. */
  readonly knowsDialect?: boolean;
}

type Treatment = "count" | "time" | "pass" | "parse";

export class SessionScan implements LinesSink {
  readonly header: HeaderSearch;
  readonly #source: ByteSource;
  readonly #target: ScanTarget;
  readonly #messageBytesMax: number;
  #kinds: readonly ScannedKind[] = [];
  #treatments: Treatment[] = [];
  #looksForDialect: boolean;

  /** @param source Where lines too long to be joined are read again. */
  constructor(source: ByteSource, target: ScanTarget, options: ScanOptions = {}) {
    this.#source = source;
    this.#target = target;
    this.header = options.header ?? new HeaderSearch();
    this.#messageBytesMax = options.messageBytesMax ?? messageBytesMax;
    this.#looksForDialect = target.foundDialect !== undefined && options.knowsDialect !== true;
  }

  addLines(bytes: Buffer, start: number, end: number, offset: number, lineNumber: number): number {
    let next = lineNumber;
    scanLines(bytes, start, end, (rows) => {
      const base = offset - start + rows.shift;
      for (let row = 0; row < rows.count; row += 1, next += 1) {
        const at = rows.start[row] ?? 0;
        const lineEnd = at + (rows.length[row] ?? 0);
        if (this.header.header === undefined) this.header.line(rows.bytes, at, lineEnd, base + at);
        else if (!this.#settle(rows, row)) this.#take(decodeLine(rows.bytes, at, lineEnd), next);
      }
    });
    return next - lineNumber;
  }

  longLine(line: LongLine, lineNumber: number): void {
    if (this.header.header === undefined) {
      if (!this.header.isOver) this.header.take(this.#readLong(line));
      return;
    }
    let isSettled = false;
    scanLongLine(line, (rows) => {
      isSettled = this.#settle(rows, 0);
    });
    if (!isSettled) this.#take(this.#readLong(line), lineNumber);
  }

  /** The unterminated end: an entry if it is a whole record. */
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

  #settle(rows: ScannedRows, row: number): boolean {
    if (((rows.flags[row] ?? 0) & scanFlags.trusted) === 0) return false;
    if (this.#kinds !== rows.kinds) this.#forgetTreatments(rows.kinds);
    const kind = rows.kind[row] ?? 0;
    const treatment = this.#treatments[kind] ?? this.#decide(kind);
    if (treatment === "parse") return false;
    if (treatment === "count") this.#target.otherMessage();
    if (treatment !== "time") return true;
    const timestampMs = rows.answerTimeMs(row);
    if (timestampMs < 0) return false;
    this.#target.assistantMessage?.(timestampMs);
    return true;
  }

  #forgetTreatments(kinds: readonly ScannedKind[]): void {
    this.#kinds = kinds;
    this.#treatments = [];
  }

  #decide(kind: number): Treatment {
    const { type, role } = this.#kinds[kind] ?? { type: "", role: undefined };
    const treatment =
      type === "message" ? this.#treatmentOfRole(role) : this.#treatmentOfType(type);
    this.#treatments[kind] = treatment;
    return treatment;
  }

  #treatmentOfRole(role: string | undefined): Treatment {
    if (role === "user") return "parse";
    if (role !== "assistant") return "count";
    return this.#target.assistantMessage === undefined ? "parse" : "time";
  }

  #treatmentOfType(type: string): Treatment {
    const isWanted =
      namingTypes.includes(type) || (this.#looksForDialect && dialectMarkers.includes(type));
    return isWanted ? "parse" : "pass";
  }

  #take(line: DecodedLine, lineNumber: number): void {
    if (!line.ok) return;
    const dialect = this.#looksForDialect ? dialectOfEntry(line.value) : undefined;
    if (dialect !== undefined) {
      this.#looksForDialect = false;
      this.#treatments = [];
      this.#target.foundDialect?.(dialect);
    }
    const { value } = line;
    const { type } = value;
    const isNaming = typeof type === "string" && namingTypes.includes(type);
    if (type !== "message" && !isNaming) return;
    // Without an id it is not an entry that could name the session, except in version 1.
    const form = entryForm(this.header.version);
    if (isNaming && readRecord(value, form).kind !== "entry") return;
    // Decoding boundary: projections expect that stored entries lack what their types promise.
    this.#target.entry(value as unknown as SessionEntry, lineNumber);
  }

  #readLong(line: LongLine): DecodedLine {
    const { offset, length } = line;
    if (length <= this.#messageBytesMax) {
      return decodeLine(readFullySync(this.#source, Buffer.allocUnsafe(length), offset));
    }
    const facts = readShallow(readRange(this.#source, offset, length), { open: ["message"] });
    return facts.ok ? { ok: true, value: withContent(facts.value) } : facts;
  }
}

/** Content too long to be read still counts: a message without any has no time. */
function withContent(value: JsonObject): JsonObject {
  const message = value["message"];
  if (typeof message !== "object" || message === null || Array.isArray(message)) return value;
  if ("content" in message) return value;
  return { ...value, message: { ...message, content: [] } };
}

// Read from the file on each call: the text of all sessions is too much to keep.

/**
 * The texts of all user and assistant messages of all branches, in file order, joined by a space;
 * "" if nothing was said, or if the file is not a session. Messages over `messageBytesMax` are not
 * read. Synchronous, O(bytes of the file).
 *
 * @throws What opening and reading throw; the path must not be a pipe.
 */
export function readSessionTextSync(path: string): string {
  const source = openByteSource(path);
  try {
    return sessionTextSync(source, source.sizeSync());
  } finally {
    source.closeSync();
  }
}

/** The same of the first `size` bytes of a log that is open. */
export function sessionTextSync(source: ByteSource, size: number): string {
  const texts: string[] = [];
  const lines = new SessionScan(source, {
    otherMessage: () => {},
    entry: (entry) => {
      const text = spokenText(entry);
      if (text !== "") texts.push(text);
    },
  });
  const framer = new LineFramer();
  runSync(scan(source, framer, lines, { from: 0, to: size }));
  lines.end(framer.rest());
  return texts.join(" ");
}

function spokenText(entry: SessionEntry): string {
  const message: unknown = entry.type === "message" ? entry.message : undefined;
  if (!isStoredObject(message) || !("role" in message) || !("content" in message)) return "";
  if (message.role !== "user" && message.role !== "assistant") return "";
  return storedText(message.content, " ");
}
