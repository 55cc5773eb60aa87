/**
 * Turns the lines of a log into the steps of a plan, as a pure sink: it is fed lines, and reads
 * only inside of lines too long to be joined. What can be said only once all lines are known (a
 * header, a stand-in, a record that comes twice) is not its business.
 */
import { decodeLine } from "@branchlog/streaming";
import type { ByteSource, LineRest, LineSink, LongLine } from "@branchlog/streaming";
import { edgesOf, reasonOf } from "./debris.ts";
import { bufferedLine, skipSpace, storedLine } from "./line-bytes.ts";
import type { LineBytes } from "./line-bytes.ts";
import { bytesBetween, partsOf } from "./line-parts.ts";
import type { LinePart } from "./line-parts.ts";
import type { Span } from "./object-scanner.ts";
import { linksOf, lostEntry, lostHeader } from "./record-facts.ts";
import type { HeaderFacts, LostEntry } from "./record-facts.ts";
import { RepairedIndex } from "./repaired-index.ts";
import type { RepairStep } from "./repair-plan.ts";

/** A record that was found in a damaged line. */
export interface Recovered {
  /** Position of its step. */
  readonly step: number;
  /** Its row; -1 if it is no entry. */
  readonly row: number;
  /** The row that had its id before, or -1. */
  readonly earlierRow: number;
}

/** Where a line, or a part of one, stands in the log; `length` with its newline. */
interface Place {
  readonly offset: number;
  readonly length: number;
  readonly line: number;
}

const noBytes = Buffer.alloc(0);
const bom = [0xef, 0xbb, 0xbf] as const;

/** See the file comment. */
export class PlanBuilder implements LineSink {
  readonly repaired: RepairedIndex;
  readonly recovered: Recovered[] = [];
  /** Entries whose records are set aside, by id; of one that comes twice the last. */
  readonly lost: Map<string, LostEntry> = new Map();
  /** The first remains of a header, if no record stands before them. */
  headerRemains: { readonly offset: number; readonly facts: HeaderFacts } | undefined;
  readonly #source: ByteSource;
  readonly #lineBytesMax: number;
  readonly #steps: RepairStep[] = [];
  /** Where the steps so far end, and from where on everything is kept. */
  #end = 0;
  #keptFrom = 0;

  constructor(source: ByteSource, lineBytesMax: number) {
    this.#source = source;
    this.#lineBytesMax = lineBytesMax;
    this.repaired = new RepairedIndex(source, lineBytesMax);
  }

  line(bytes: Buffer, start: number, end: number, offset: number, line: number): void {
    this.#addLine(bytes, start, end, { offset, length: end - start + 1, line });
  }

  longLine({ offset, length, head }: LongLine, line: number): void {
    this.#addLongLine({ offset, length: length + 1, line }, head, length);
  }

  /** Takes the end of the log, which has no newline. */
  addRest({ bytes, long, offset, length, lineNumber: line }: LineRest): void {
    const place = { offset, length, line };
    if (bytes !== null) this.#addLine(bytes, 0, bytes.length, place);
    else if (long !== null) this.#addLongLine(place, long.head, length);
  }

  /** All steps; to be asked for once there are no more lines. */
  finish(): readonly RepairStep[] {
    this.#endKept();
    return this.#steps;
  }

  #addLine(bytes: Buffer, start: number, end: number, place: Place): void {
    const hasMarks = bytes[start] === bom[0] || this.#end < place.offset;
    const marks = hasMarks ? this.#setAsideMarks(bytes.subarray(start, end), place) : 0;
    const [from, behind] = [start + marks, movedBy(place, marks)];
    const decoded = decodeLine(bytes, from, end);
    if (decoded.ok) this.repaired.addRecord(decoded.value, bytes, from, end, behind.offset);
    else if (decoded.reason === "blank") this.repaired.addBlank();
    else return this.#addParts(bufferedLine(bytes.subarray(from, end)), behind);
    this.#keep(behind, end - from);
  }

  #addLongLine(place: Place, head: Buffer, length: number): void {
    const marks = this.#setAsideMarks(head, place);
    const behind = movedBy(place, marks);
    const bytes = storedLine(this.#source, behind.offset, length - marks);
    if (skipSpace(bytes, 0) < bytes.length) return this.#addParts(bytes, behind);
    this.repaired.addBlank();
    this.#keep(behind, bytes.length);
  }

  /** A line that is damaged, or too long to say so yet. */
  #addParts(bytes: LineBytes, place: Place): void {
    const debrisId = debrisReader(bytes);
    const isLost = (id: string): boolean => this.lost.has(id);
    const parts = partsOf(bytes, {
      accepts: (candidate) =>
        this.repaired.accepts(candidate, isLost, () => debrisId(candidate.debris)),
      recordBytesMax: this.#lineBytesMax,
    });
    const [only] = parts;
    if (parts.length === 1 && only?.kind === "record") {
      this.repaired.addPieces(only.value, bytesBetween(bytes, 0, bytes.length), place.offset);
      this.#keep(place, bytes.length);
      return;
    }
    for (const part of parts) this.#addPart(part, bytes, place);
  }

  #addPart(part: LinePart, bytes: LineBytes, { offset, length, line }: Place): void {
    // The newline of the line belongs to its last part.
    const end = part.end === bytes.length ? length : part.end;
    const place = { offset: offset + part.start, length: end - part.start, line };
    if (part.kind === "debris") this.#setAside(part, bytes, place);
    else this.#recover(part, bytes, place);
  }

  #recover(part: LinePart & { kind: "record" }, bytes: LineBytes, place: Place): void {
    const { value, start, end } = part;
    const { repaired } = this;
    const { id } = linksOf(value);
    const earlierRow = id === null ? -1 : repaired.index.rowOfId(id);
    const row = repaired.addPieces(value, bytesBetween(bytes, start, end), place.offset);
    const addsNewline = place.length === end - start;
    this.#push({ kind: "recover", ...place, id, addsNewline });
    this.recovered.push({ step: this.#steps.length - 1, row, earlierRow });
  }

  #setAside(part: LinePart, bytes: LineBytes, place: Place): void {
    const { head, tail } = edgesOf(bytes, part);
    const entry = lostEntry(head, tail);
    if (entry !== null) this.lost.set(entry.id, entry);
    const facts = entry === null && this.repaired.isEmpty ? lostHeader(head) : null;
    if (facts !== null) this.headerRemains ??= { offset: place.offset, facts };
    const reason = reasonOf(bytes, part);
    this.#push({ kind: "set-aside", ...place, reason, id: entry?.id ?? null });
  }

  /**
   * Byte-order marks at the start of a line, and one before it that the framer skipped. Returns how
   * many bytes of the line they take.
   */
  #setAsideMarks(head: Buffer, { offset, line }: Place): number {
    let length = 0;
    while (bom.every((byte, i) => head[length + i] === byte)) length += bom.length;
    while (this.#end < offset + length) {
      const mark = { offset: this.#end, length: bom.length, line };
      this.#push({ kind: "set-aside", ...mark, reason: "byte-order-mark", id: null });
    }
    return length;
  }

  #keep({ offset, length, line }: Place, bytes: number): void {
    this.#end = offset + length;
    // The newline is missing.
    if (length === bytes) this.#push({ kind: "terminate", offset: this.#end, line });
  }

  /** Adds a step that begins where the others end. */
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

/**
 * Reads which entry debris was that is cut off where a value may stand: its ids can only be at its
 * head, which is read once.
 */
function debrisReader(bytes: LineBytes): (debris: Span) => string | undefined {
  let [readAt, id]: [number, string | undefined] = [-1, undefined];
  return (debris) => {
    if (debris.start !== readAt) id = lostEntry(edgesOf(bytes, debris).head, noBytes)?.id;
    readAt = debris.start;
    return id;
  };
}

function movedBy({ offset, length, line }: Place, bytes: number): Place {
  return { offset: offset + bytes, length: length - bytes, line };
}
