/**
 * Reads the envelope of a session record (type, id, parentId, timestamp; for a message its role)
 * from its bytes, without parsing. A line is trusted only if it has exactly a form that the agents
 * write and nothing in it hints at two records run together; every other line has to be parsed
 * whole. A trusted line need not be valid JSON, and duplicate top-level keys are not detected.
 */
import {
  type EnvelopeSpans,
  type PayloadKey,
  readHead,
  readOpening,
  readTail,
  type RecordKind,
} from "./envelope-form.ts";
import type { LongLine } from "./long-line.ts";
import { NeedleCursor } from "./needle-cursor.ts";
import { readUsualForm } from "./usual-form.ts";

const carriageReturn = 0x0d;
const closingBrace = 0x7d;
const noBytes = Buffer.alloc(0);
const noView = viewOf(noBytes);

/**
 * Reads one line at a time; the fields hold the spans of the last trusted line. Pass the lines of a
 * chunk in order: each byte is then searched once, and nothing is allocated. The content of a
 * buffer object must not change between two reads from it.
 */
export class EnvelopeReader implements EnvelopeSpans {
  /** The kind of the record by its type; null: it has no type. */
  kind: RecordKind | null = null;
  /** Bytes that the type, customType and role spans refer to. */
  headBytes: Buffer = noBytes;
  /** The same bytes, for readers of whole words. */
  headView: DataView = noView;
  typeStart: number = 0;
  typeEnd: number = 0;
  /** -1: not a custom record. */
  customTypeStart: number = -1;
  customTypeEnd: number = -1;
  /** -1: not a message. */
  roleStart: number = -1;
  roleEnd: number = -1;
  /** Index of the role among the usual ones; otherwise -1. */
  usualRole: number = -1;
  /** Bytes that the id, parentId and timestamp spans refer to. */
  coreBytes: Buffer = noBytes;
  idStart: number = 0;
  idEnd: number = 0;
  /** -1: the parentId is null. */
  parentStart: number = -1;
  parentEnd: number = -1;
  /** The same bytes as `coreBytes`, for readers of whole words. */
  coreView: DataView = noView;
  timestampStart: number = 0;
  timestampEnd: number = 0;
  /**
   * Whether id and parentId are at the start of the line, or at its end (custom records, migrated
   * v1 lines).
   */
  form: "head" | "tail" = "head";
  /** Whether the line ends in `}}`: the last value of the record is an object. */
  endsWithObject: boolean = false;
  /** Tail form only: whether a data, content or message key opens a payload. */
  hasPayload: boolean = false;

  readonly #parentIds = new NeedleCursor('"parentId":', 7);
  readonly #customTypes = new NeedleCursor('"customType":', 7);
  readonly #nuls = new NeedleCursor("\0");
  readonly #payloads = {
    data: new NeedleCursor('"data":'),
    content: new NeedleCursor('"content":'),
    message: new NeedleCursor('"message":'),
  } as const;

  #viewed: Buffer = noBytes;
  #view: DataView = noView;

  /**
   * Whether the line `bytes[start, end)` (without "\n") may be indexed without parsing. If so, the
   * spans are set; otherwise they are undefined and the line has to be parsed whole.
   */
  read(bytes: Buffer, start: number, end: number): boolean {
    const last = recordEnd(bytes, start, end);
    if (last === -1) return false;
    const view = bytes === this.#viewed ? this.#view : this.#viewBuffer(bytes);
    if (readUsualForm(this, view, start, last)) {
      this.#setBytes(bytes, view);
      this.form = "head";
      this.hasPayload = false;
      this.endsWithObject = bytes[last - 2] === closingBrace;
      return this.endsWithObject && this.#isAlone(bytes, start, last);
    }
    const idStart = readOpening(this, view, start, last);
    if (this.kind === null) return false;
    this.#setBytes(bytes, view);
    this.endsWithObject = bytes[last - 2] === closingBrace;
    if (idStart !== -1) {
      this.form = "head";
      this.hasPayload = false;
      if (!readHead(this, view, idStart, last) || !this.#endsAsItShould()) return false;
    } else {
      this.form = "tail";
      const payload = readTail(this, view, view, last);
      if (payload === null || !this.#isOneRecord(payload, bytes, start, last)) return false;
      this.hasPayload = payload !== "none";
    }
    return this.#isAlone(bytes, start, last);
  }

  /** The same for a line too long to be joined; its two edges must hold the envelope. */
  readLong(line: LongLine): boolean {
    const last = recordEnd(line.tail, 0, line.tail.length);
    if (last === -1 || line.parentIdCount !== 1 || line.hasNul) return false;
    const head = viewOf(line.head);
    const idStart = readOpening(this, head, 0, head.byteLength);
    if (this.kind === null) return false;
    this.headBytes = line.head;
    this.headView = head;
    this.endsWithObject = line.tail[last - 2] === closingBrace;
    if (idStart !== -1) {
      this.form = "head";
      this.coreBytes = line.head;
      this.coreView = head;
      this.hasPayload = false;
      return readHead(this, head, idStart, -1) && this.#endsAsItShould();
    }
    this.form = "tail";
    this.hasPayload = true;
    // A migrated line has its timestamp at one end and its ids at the other.
    this.coreBytes = Buffer.concat([line.head, line.tail]);
    this.coreView = viewOf(this.coreBytes);
    const payload = readTail(this, head, this.coreView, line.head.length + last);
    if (payload === null || payload === "none") return false;
    const isOneRecord = payload === "message" || line.customTypeCount === 1;
    return isOneRecord && line.payloadKeyCounts[payload] === 1;
  }

  /** Drops the reference to the bytes read last, which may be a chunk of many lines. */
  release(): void {
    this.#setBytes(noBytes, noView);
    this.#viewed = noBytes;
    this.#view = noView;
    const { data, content, message } = this.#payloads;
    const cursors = [this.#parentIds, this.#customTypes, this.#nuls, data, content, message];
    for (const cursor of cursors) cursor.release();
  }

  #setBytes(bytes: Buffer, view: DataView): void {
    this.headBytes = bytes;
    this.headView = view;
    this.coreBytes = bytes;
    this.coreView = view;
  }

  /** Whether `bytes[start, last)` has no sign of a second record. */
  #isAlone(bytes: Buffer, start: number, last: number): boolean {
    return once(this.#parentIds, bytes, start, last) && this.#nuls.next(bytes, start) >= last;
  }

  /** The agents end a message with its `message`; anything else may be two records run together. */
  #endsAsItShould(): boolean {
    return this.endsWithObject || this.kind !== "message";
  }

  #viewBuffer(bytes: Buffer): DataView {
    this.#viewed = bytes;
    this.#view = viewOf(bytes);
    return this.#view;
  }

  /**
   * A torn record and a complete one, run together, have two of these keys: a custom record
   * continues with customType, a message with message.
   */
  #isOneRecord(payload: PayloadKey, bytes: Buffer, start: number, end: number): boolean {
    if (payload === "none") return true;
    if (!once(this.#payloads[payload], bytes, start, end)) return false;
    return payload === "message" || once(this.#customTypes, bytes, start, end);
  }
}

/** Position after the `}` that ends the line, a trailing "\r" aside; -1 if it does not end so. */
function recordEnd(bytes: Buffer, start: number, end: number): number {
  const last = end > start && bytes[end - 1] === carriageReturn ? end - 1 : end;
  return last > start && bytes[last - 1] === closingBrace ? last : -1;
}

function once(cursor: NeedleCursor, bytes: Buffer, start: number, end: number): boolean {
  const hit = cursor.next(bytes, start);
  return hit < end && cursor.next(bytes, hit + 1) >= end;
}

function viewOf(bytes: Buffer): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
