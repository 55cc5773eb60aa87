/** Turns the lines of a log into the steps of a plan that follow from each line alone. */
import {
  decodeLine,
  hasByteOrderMark,
  readFullySync,
  readRange,
  readShallow,
} from "@branchlog/streaming";
import type {
  ByteSource,
  JsonObject,
  LineRest,
  LineSink,
  LongLine,
  Span,
} from "@branchlog/streaming";
import { LogIndexer, currentVersion, entryForm } from "@branchlog/core/rows";
import type { EntryForm, IndexTable } from "@branchlog/core/rows";
import type { EndKind } from "../verify/finding.ts";
import { partsOf } from "./line-parts.ts";
import type { Candidate } from "./line-parts.ts";
import { linksOf, lostEntry, lostHeader, reasonOf, recordKind, sourceCwd } from "./record-facts.ts";
import type { Edges, HeaderFacts, LostEntry } from "./record-facts.ts";
import type { RepairStep, SetAsideReason } from "./repair-plan.ts";

export interface Recovered {
  readonly step: number;
  /** -1: not an entry. */
  readonly row: number;
  readonly earlierRow: number;
}

interface Place {
  readonly offset: number;
  readonly length: number;
  readonly line: number;
}

const noBytes = Buffer.alloc(0);
const bomBytes = 3;
const carriageReturn = 0x0d;

export class PlanBuilder implements LineSink {
  readonly repaired: RepairedIndex;
  readonly recovered: Recovered[] = [];
  /** By id; the last one of each. */
  readonly lost: Map<string, LostEntry> = new Map();
  /** Of a header before all records. */
  headerRemains: { readonly offset: number; readonly facts: HeaderFacts } | undefined;
  readonly #source: ByteSource;
  readonly #partedBytesMax: number;
  readonly #steps: RepairStep[] = [];
  /** Start of the bytes kept since the last step. */
  #end = 0;
  #keptFrom = 0;

  /** @param partedBytesMax A longer line is not repaired: it stays, or is set aside completely. */
  constructor(source: ByteSource, partedBytesMax: number) {
    this.#source = source;
    this.#partedBytesMax = partedBytesMax;
    this.repaired = new RepairedIndex(source);
  }

  line(bytes: Buffer, start: number, end: number, offset: number, line: number): void {
    this.#addLine(bytes, start, end, { offset, length: end - start + 1, line });
  }

  longLine(long: LongLine, line: number): void {
    this.#addLongLine({ offset: long.offset, length: long.length + 1, line }, long);
  }

  /** Adds the unterminated end of the log. A line that may still be being written stays. */
  addRest({ bytes, long, offset, length, lineNumber: line }: LineRest, kind: EndKind): void {
    const place = { offset, length, line };
    if (kind === "fragment") this.#end = offset + length;
    else if (bytes !== null) this.#addLine(bytes, 0, bytes.length, place);
    else if (long !== null) this.#addLongLine(place, long);
  }

  finish(): readonly RepairStep[] {
    this.#endKept();
    return this.#steps;
  }

  #addLine(bytes: Buffer, start: number, end: number, place: Place): void {
    const hasMarks = hasByteOrderMark(bytes, start, end) || this.#end < place.offset;
    const marks = hasMarks ? this.#setAsideMarks(bytes.subarray(start, end), place) : 0;
    const [from, behind] = [start + marks, movedBy(place, marks)];
    const decoded = decodeLine(bytes, from, end);
    if (decoded.ok) this.repaired.addRecord(decoded.value, bytes, from, end, behind.offset);
    else if (decoded.reason === "blank") return this.#keepBlank(behind);
    else return this.#addParts(bytes.subarray(from, end), behind);
    this.#keep(behind, end - from);
  }

  #addLongLine(place: Place, long: LongLine): void {
    const { offset, length } = long;
    this.#setAsideMarks(noBytes, place);
    const pieces = (): Iterable<Buffer> => readRange(this.#source, offset, length);
    const decoded = readShallow(pieces());
    const isSound = decoded.ok || decoded.reason === "blank";
    if (length <= this.#partedBytesMax && (!isSound || hasByteOrderMark(long.head))) {
      const line = readFullySync(this.#source, Buffer.allocUnsafeSlow(length), offset);
      this.#addLine(line, 0, length, place);
    } else if (decoded.ok) {
      this.repaired.addLong(decoded.value, long);
      this.#keep(place, length);
    } else if (isSound) this.#keepBlank(place);
    else this.#setAside(long, reasonOf(decoded, pieces), place);
  }

  #addParts(line: Buffer, { offset, length, line: number }: Place): void {
    const debrisId = debrisReader(line);
    const isLost = (id: string): boolean => this.lost.has(id);
    const parts = partsOf(line, (candidate) =>
      this.repaired.accepts(candidate, isLost, () => debrisId(candidate.debris)),
    );
    for (const part of parts) {
      // The newline of the line belongs to its last part.
      const end = part.end === line.length ? length : part.end;
      const place = { offset: offset + part.start, length: end - part.start, line: number };
      const bytes = line.subarray(part.start, part.end);
      if (part.kind === "record") this.#recover(part.value, bytes, place);
      else this.#setAside({ head: bytes, tail: bytes }, reasonOfDebris(bytes), place);
    }
  }

  #recover(value: JsonObject, bytes: Buffer, place: Place): void {
    const { repaired } = this;
    const { id } = linksOf(value);
    const earlierRow = id === null ? -1 : repaired.index.rowOfId(id);
    const row = repaired.addRecord(value, bytes, 0, bytes.length, place.offset);
    this.#push({ kind: "recover", ...place, id, addsNewline: place.length === bytes.length });
    this.recovered.push({ step: this.#steps.length - 1, row, earlierRow });
  }

  #setAside(edges: Edges, reason: SetAsideReason, place: Place): void {
    const entry = lostEntry(edges);
    if (entry !== null) this.lost.set(entry.id, entry);
    const facts = entry === null && this.repaired.isEmpty ? lostHeader(edges.head) : null;
    if (facts !== null) this.headerRemains ??= { offset: place.offset, facts };
    this.#push({ kind: "set-aside", ...place, reason, id: entry?.id ?? null });
  }

  /** Sets aside byte-order marks at the start of a line; returns their length within the line. */
  #setAsideMarks(head: Buffer, { offset, line }: Place): number {
    let length = 0;
    while (hasByteOrderMark(head, length)) length += bomBytes;
    while (this.#end < offset + length) {
      const mark = { offset: this.#end, length: bomBytes, line };
      this.#push({ kind: "set-aside", ...mark, reason: "byte-order-mark", id: null });
    }
    return length;
  }

  /** A line without a record needs no newline. */
  #keepBlank({ offset, length }: Place): void {
    this.repaired.lines += 1;
    this.#end = offset + length;
  }

  #keep({ offset, length, line }: Place, bytes: number): void {
    this.#end = offset + length;
    if (length === bytes) this.#push({ kind: "terminate", offset: this.#end, line });
  }

  #push(step: RepairStep): void {
    this.#endKept();
    this.#steps.push(step);
    this.#end = step.offset + ("length" in step ? step.length : 0);
    this.#keptFrom = this.#end;
  }

  #endKept(): void {
    const [offset, length] = [this.#keptFrom, this.#end - this.#keptFrom];
    if (length > 0) this.#steps.push({ kind: "keep", offset, length });
    this.#keptFrom = this.#end;
  }
}

function reasonOfDebris(debris: Buffer): SetAsideReason {
  const end = debris.at(-1) === carriageReturn ? debris.length - 1 : debris.length;
  return reasonOf(decodeLine(debris), () => [debris.subarray(0, end)]);
}

function debrisReader(line: Buffer): (debris: Span) => string | undefined {
  let [readAt, id]: [number, string | undefined] = [-1, undefined];
  return ({ start, end }) => {
    if (start !== readAt) id = lostEntry({ head: line.subarray(start, end), tail: noBytes })?.id;
    readAt = start;
    return id;
  };
}

function movedBy({ offset, length, line }: Place, bytes: number): Place {
  return { offset: offset + bytes, length: length - bytes, line };
}

interface FirstEntry {
  readonly offset: number;
  readonly form: EntryForm;
  readonly timestamp: string | undefined;
  readonly cwd: string | undefined;
}

/** The index of the repaired log. Rows have their offsets in the damaged log. */
export class RepairedIndex {
  readonly indexer: LogIndexer;
  firstWithoutHeader: FirstEntry | undefined;
  laterHeader: JsonObject | undefined;
  lines = 0;

  constructor(source: ByteSource) {
    this.indexer = new LogIndexer({
      readLong: (offset, length) =>
        readShallow(readRange(source, offset, length), { open: ["message"] }),
      onFolded: () => undefined,
    });
  }

  get index(): IndexTable {
    return this.indexer.index;
  }

  get isEmpty(): boolean {
    return this.indexer.header === undefined;
  }

  addRecord(value: JsonObject, bytes: Buffer, start: number, end: number, offset: number): number {
    this.#meet(value, offset);
    this.lines += 1;
    const { count } = this.index;
    this.indexer.addLines(bytes, start, end, offset, this.lines);
    // Whether later candidates are records depends on those before them.
    this.indexer.batchEnd();
    return this.index.count > count ? count : -1;
  }

  addLong(value: JsonObject, long: LongLine): void {
    this.#meet(value, long.offset);
    this.lines += 1;
    this.indexer.longLine(long, this.lines);
    this.indexer.batchEnd();
  }

  /**
   * Whether an object in a damaged line is a record. Where it may be a value inside of debris, its
   * id must be new and its parent known, as with appended entries.
   *
   * @param debrisId Returns the id of the entry that the debris was.
   */
  accepts(
    { value, placement }: Candidate,
    isLost: (id: string) => boolean,
    debrisId: () => string | undefined,
  ): boolean {
    if (placement === "apart") return true;
    const { header } = this.indexer;
    const kind = recordKind(value, header === undefined ? undefined : entryForm(header.version));
    if (kind === "other" || placement === "touched") return kind !== "other";
    if (kind === "header") return false;
    const { id, parentId } = linksOf(value);
    if (id === null || this.#isKnown(id) || isLost(id)) return false;
    if (parentId === null) return this.index.count === 0;
    return this.#isKnown(parentId) || isLost(parentId) || debrisId() === parentId;
  }

  #isKnown(id: string): boolean {
    return this.index.rowOfId(id) >= 0;
  }

  /** Entries without a header before them are indexed under one that takes its place. */
  #meet(value: JsonObject, offset: number): void {
    if (this.firstWithoutHeader !== undefined) {
      if (recordKind(value, undefined) === "header") this.laterHeader ??= value;
      return;
    }
    if (!this.isEmpty || recordKind(value, undefined) !== "entry") return;
    const { id, timestamp } = value;
    const form = typeof id === "string" ? entryForm(currentVersion) : 1;
    const time = typeof timestamp === "string" ? timestamp : undefined;
    this.firstWithoutHeader = { offset, form, timestamp: time, cwd: sourceCwd(value) };
    const header = Buffer.from(JSON.stringify({ type: "session", version: form, id: "" }));
    this.indexer.addLines(header, 0, header.length, offset, 0);
    this.indexer.batchEnd();
  }
}
