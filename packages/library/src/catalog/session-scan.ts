/**
 * Reads the parts of a session file shown in lists: the header, and the bodies of user and
 * assistant messages and of names. Other messages are counted by their envelopes, without a parse.
 * Holds one line at a time; never fails on the content of a line.
 */
import {
  decodeLine,
  readFullySync,
  readRange,
  readShallow,
  scanFlags,
  scanLines,
  scanLongLine,
} from "@branchlog/streaming";
import type {
  ByteSource,
  DecodedLine,
  JsonObject,
  LineRest,
  LinesSink,
  LongLine,
  ScannedAnswer,
  ScannedKind,
  ScannedRows,
} from "@branchlog/streaming";
import {
  dialectOfEntry,
  dialectMarkers,
  entryForm,
  readRecord,
  namingTypes,
  usage,
  HeaderSearch,
  storedTimeMs,
} from "@branchlog/core/rows";
import type { DialectName } from "@branchlog/core/entries";
import type { SessionEntry } from "@branchlog/core";
import { messageBytesMax } from "./limits.ts";
import { entryName } from "./listed-activity.ts";
import type { EntryName } from "./listed-activity.ts";

/** Receives the entries after the header, in file order. */
export interface ScanTarget {
  /** A message of another role without usage; its body was not read. */
  otherMessage(): void;
  /** An answer that was not read whole. Omit it to get them whole, and nothing else that spends. */
  answer?(answer: ScannedAnswer): void;
  /**
   * Every other message, naming entries and entries with usage, as stored. An unterminated last
   * line has the next number.
   * @param isEntry Whether a log has it as an entry: foreign files hold messages without an id.
   */
  entry(entry: SessionEntry, lineNumber: number, isEntry: boolean): void;
  /** Called with the first entry that only one agent writes. */
  foundDialect?(dialect: DialectName): void;
  /**
   * Every entry, before its other calls. Omit it if the tree is not needed.
   * @param name Null: it has no id. @param timeMs NaN: unknown.
   */
  place?(name: EntryName | null, parent: EntryName | null, timeMs: number): void;
}

export interface ScanOptions {
  /** Continues a search over earlier lines. */
  readonly header?: HeaderSearch;
  /** Of longer messages only role and time are read. */
  readonly messageBytesMax?: number | undefined;
  /** Whether the dialect was found in earlier lines. */
  readonly knowsDialect?: boolean;
}

type Treatment = "count" | "result" | "answer" | "pass" | "parse";

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
        else if (this.#settle(rows, row)) this.#place(rows, row);
        else this.#take(decodeLine(rows.bytes, at, lineEnd), next);
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
      isSettled = this.#settle(rows, 0, true);
      if (isSettled) this.#place(rows, 0);
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

  /** @param isCut Whether only the two ends of the line are there. */
  #settle(rows: ScannedRows, row: number, isCut = false): boolean {
    if (((rows.flags[row] ?? 0) & scanFlags.trusted) === 0) return false;
    if (this.#kinds !== rows.kinds) this.#forgetTreatments(rows.kinds);
    const kind = rows.kind[row] ?? 0;
    const treatment = this.#treatments[kind] ?? this.#decide(kind);
    if (treatment === "parse") return false;
    if (treatment === "result" && rows.mayResultSpend(row, isCut)) return false;
    if (treatment === "pass") return true;
    if (treatment !== "answer") {
      this.#target.otherMessage();
      return true;
    }
    const answer = rows.answer(row);
    if (answer !== undefined) this.#target.answer?.(answer);
    return answer !== undefined;
  }

  /** Of a trusted row. */
  #place(rows: ScannedRows, row: number): void {
    if (this.#target.place === undefined) return;
    const flags = rows.flags[row] ?? 0;
    const { bytes, timeStart, timeEnd, idStart, idEnd, parentStart, parentEnd } = rows;
    const isExact = (flags & scanFlags.exactTime) !== 0;
    const timeMs = isExact
      ? (rows.time[row] ?? 0)
      : Date.parse(bytes.toString("latin1", timeStart[row], timeEnd[row]));
    const hasWords = (flags & scanFlags.words) !== 0;
    const isRoot = (flags & scanFlags.root) !== 0;
    const name = hasWords
      ? (rows.id[row] ?? 0)
      : entryName(bytes.toString("utf8", idStart[row], idEnd[row]));
    let parent: EntryName | null = null;
    if (!isRoot) {
      parent = hasWords
        ? (rows.parent[row] ?? 0)
        : entryName(bytes.toString("utf8", parentStart[row], parentEnd[row]));
    }
    this.#target.place(name, parent, timeMs);
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
    if (role === "assistant") return this.#sumsUp ? "answer" : "parse";
    return role === "toolResult" && this.#sumsUp ? "result" : "count";
  }

  get #sumsUp(): boolean {
    return this.#target.answer !== undefined;
  }

  #treatmentOfType(type: string): Treatment {
    const isTelling = this.#looksForDialect && dialectMarkers.includes(type);
    return isTelling || this.#isWanted(type) ? "parse" : "pass";
  }

  #isWanted(type: string): boolean {
    return namingTypes.includes(type) || (this.#sumsUp && usage.types?.includes(type) === true);
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
    // Without an id it is not an entry, except in version 1.
    const record = readRecord(value, entryForm(this.header.version));
    const isEntry = record.kind === "entry";
    if (isEntry && this.#target.place !== undefined) {
      const { parentId, timestamp } = value;
      const name = record.id === null ? null : entryName(record.id);
      const parent = typeof parentId === "string" ? entryName(parentId) : null;
      this.#target.place(name, parent, storedTimeMs(timestamp));
    }
    if (type !== "message" && (typeof type !== "string" || !this.#isWanted(type))) return;
    if (type !== "message" && !isEntry) return;
    // Decoding boundary: projections expect that stored entries lack what their types promise.
    this.#target.entry(value as unknown as SessionEntry, lineNumber, isEntry);
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
