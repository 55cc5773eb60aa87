/**
 * Finds lines and the envelopes of session records in bytes: one pass by a WebAssembly kernel
 * (`../kernel`), which makes a row of each line. A row is trusted only if its line has exactly a
 * form that the agents write and nothing in it hints at two records run together; every other line
 * has to be parsed. A trusted line need not be valid JSON, and duplicate top-level keys are not
 * detected. Without WebAssembly no row is trusted, and the results are the same.
 */
import { lineEdgeBytes } from "./limits.ts";
import type { LongLine } from "./long-line.ts";
import { kernelCode } from "./scan-kernel-code.ts";

/** Facts of a row that fit one bit each. */
export const scanFlags = {
  /** The envelope can be used without a parse of the line. */
  trusted: 1,
  /** Id and parent are at the end of the line, after the payload. */
  tailForm: 2,
  /** The line ends in `}}`: the last value of the record is an object. */
  endsWithObject: 4,
  /** Tail form only: a data, content or message key opens a payload. */
  hasPayload: 8,
  /** The time has the form of `toISOString`, and is in `time`. */
  exactTime: 16,
  /** The parent is null. */
  root: 32,
  /** Id and parent are eight hex digits each, and their bits are in `id` and `parent`. */
  words: 64,
  /** Besides its envelope the record has plain strings at most: it is valid JSON. */
  flat: 128,
  /** A message that ends after a list with `isError` and its time, as most results of tools. */
  plainResult: 256,
} as const;

/** The kind of a record, from its line. */
export interface ScannedKind {
  readonly type: string;
  /** Of a message. */
  readonly role: string | undefined;
  /** Of a custom record. */
  readonly customType: string | undefined;
}

/** Which model answered. One object for all answers of a model, as long as it is remembered. */
export interface ScannedModel {
  readonly provider: string;
  readonly id: string;
}

/** The values at the end of an assistant's line. */
export interface ScannedAnswer {
  /** As the message itself says, in epoch milliseconds. */
  readonly timestampMs: number;
  readonly model: ScannedModel;
  /** Tokens, and US dollars. */
  readonly input: number;
  readonly output: number;
  readonly cacheRead: number;
  readonly cacheWrite: number;
  readonly cost: number;
}

/** The kind of a line recognised as a JSON object without a parse. */
export interface CheckedRecord {
  /** Its last one; undefined without any. */
  readonly id: string | undefined;
  readonly isAscii: boolean;
  /** Whether it may be the first of an unintended branch. */
  readonly mayDiverge: boolean;
}

/** Facts of a checked line, from the kernel. */
const checkFlags = { record: 1, ascii: 2, mayDiverge: 4, plainId: 8, otherId: 16 } as const;

/** The values of a line that the kernel reads, at addresses in its memory. */
interface LineReader {
  readonly bytes: Buffer;
  /** Where the answer read last is, and the id checked last. */
  readonly place: number;
  readonly idPlace: number;
  readonly check: (row: number) => number;
  /** 0: it has to be parsed; 1: of the model before; 2: of another. */
  readonly read: (row: number) => number;
  readonly mayHaveSpent: (row: number) => number;
}

/** More models than a machine has sessions of. */
const modelsMax = 1024;

/**
 * One row for each line, in their order, as columns. The rows are valid during the call to which
 * they are given.
 */
export class ScannedRows {
  /** Lines of the batch. */
  count: number = 0;
  /** The bytes that places in the columns refer to. */
  bytes: Buffer = Buffer.alloc(0);
  /** To be added to a place in these, for the place in the bytes that were scanned. */
  shift: number = 0;
  readonly start: Uint32Array;
  /** Bytes of the line without its newline. */
  readonly length: Uint32Array;
  /** Sums of {@link scanFlags}. The columns below are undefined for rows that are not trusted. */
  readonly flags: Uint32Array;
  /** Number in {@link ScannedRows.kinds}. */
  readonly kind: Uint32Array;
  readonly id: Uint32Array;
  readonly parent: Uint32Array;
  // Spans, for rows without words or exact time.
  readonly idStart: Uint32Array;
  readonly idEnd: Uint32Array;
  readonly parentStart: Uint32Array;
  readonly parentEnd: Uint32Array;
  readonly timeStart: Uint32Array;
  readonly timeEnd: Uint32Array;
  /** Epoch milliseconds. */
  readonly time: Float64Array;
  /** All kinds met so far. A new list begins when it is full: then numbers mean other kinds. */
  kinds: readonly ScannedKind[] = [];

  readonly #reader: LineReader | undefined;
  readonly #idSpan: Uint32Array;
  readonly #numbers: Float64Array;
  readonly #spans: Uint32Array;
  readonly #models = new Map<string, ScannedModel>();
  #model: ScannedModel = { provider: "", id: "" };

  /** @param buffer Holds the columns from `offset` on, `rows` numbers each. */
  constructor(buffer: ArrayBuffer, offset: number, rows: number, reader?: LineReader) {
    this.#reader = reader;
    this.#idSpan = new Uint32Array(buffer, reader?.idPlace ?? offset, 2);
    const place = reader?.place ?? offset;
    this.#numbers = new Float64Array(buffer, place, answerNumbers);
    this.#spans = new Uint32Array(buffer, place + 8 * answerNumbers, answerSpans);
    let next = offset;
    const column = (): Uint32Array => {
      next += 4 * rows;
      return new Uint32Array(buffer, next - 4 * rows, rows);
    };
    this.start = column();
    this.length = column();
    this.flags = column();
    this.kind = column();
    this.id = column();
    this.parent = column();
    this.idStart = column();
    this.idEnd = column();
    this.parentStart = column();
    this.parentEnd = column();
    this.timeStart = column();
    this.timeEnd = column();
    this.time = new Float64Array(buffer, next, rows);
  }

  /**
   * The answer of the assistant whose message the trusted row is, read from the end of its line;
   * undefined where that takes a parse.
   */
  answer(row: number): ScannedAnswer | undefined {
    const mask = scanFlags.tailForm | scanFlags.endsWithObject;
    const isEnd = ((this.flags[row] ?? 0) & mask) === scanFlags.endsWithObject;
    const reader = isEnd ? this.#reader : undefined;
    const reading = reader?.read(row) ?? 0;
    if (reading === 0 || reader === undefined) return undefined;
    if (reading === 2) this.#model = this.#modelIn(reader.bytes);
    const numbers = this.#numbers;
    const read = numbers[5] ?? 0;
    const cost = read < 0 ? Number(this.#textOf(reader.bytes, 0)) : read;
    if (!Number.isFinite(cost)) return undefined;
    return {
      timestampMs: numbers[0] ?? 0,
      model: this.#model,
      input: numbers[1] ?? 0,
      output: numbers[2] ?? 0,
      cacheRead: numbers[3] ?? 0,
      cacheWrite: numbers[4] ?? 0,
      cost,
    };
  }

  /**
   * Whether the trusted row, a result of a tool, has to be parsed for what the tool spent.
   * @param isCut Whether only the two ends of the line are in the bytes.
   */
  mayResultSpend(row: number, isCut: boolean): boolean {
    if (((this.flags[row] ?? 0) & scanFlags.plainResult) !== 0) return false;
    return isCut || this.#reader?.mayHaveSpent(row) !== 0;
  }

  /** The row, whether it is trusted or not; undefined: its line has to be parsed. O(bytes). */
  checked(row: number): CheckedRecord | undefined {
    const reader = this.#reader;
    const flags = reader?.check(row) ?? 0;
    if (reader === undefined || flags === 0 || (flags & checkFlags.otherId) !== 0) return undefined;
    const [start, end] = this.#idSpan;
    const id =
      (flags & checkFlags.plainId) === 0 ? undefined : reader.bytes.toString("latin1", start, end);
    const isAscii = (flags & checkFlags.ascii) !== 0;
    return { id, isAscii, mayDiverge: (flags & checkFlags.mayDiverge) !== 0 };
  }

  #textOf(bytes: Buffer, span: number): string {
    return bytes.toString("latin1", this.#spans[span] ?? 0, this.#spans[span + 1] ?? 0);
  }

  #modelIn(bytes: Buffer): ScannedModel {
    const [provider, id] = [this.#textOf(bytes, 2), this.#textOf(bytes, 4)];
    const key = `${provider}"${id}`;
    const known = this.#models.get(key);
    if (known !== undefined) return known;
    const model = { provider, id };
    if (this.#models.size >= modelsMax) this.#models.clear();
    this.#models.set(key, model);
    return model;
  }
}

const answerNumbers = 6;
const answerSpans = 6;

/**
 * Scans the lines `bytes[start, end)`, which are separated by newlines; the newline of the last one
 * is left out. Calls `take` for each batch of rows. O(bytes), allocates nothing.
 */
export function scanLines(
  bytes: Buffer,
  start: number,
  end: number,
  take: (rows: ScannedRows) => void,
): void {
  if (kernel === undefined) kernel = loadKernel();
  if (kernel === null || !kernel.scan(bytes, start, end, take))
    scanPlainly(bytes, start, end, take);
}

/** The same for a line that is too long to be joined; its two edges must hold the envelope. */
export function scanLongLine(line: LongLine, take: (rows: ScannedRows) => void): void {
  if (kernel === undefined) kernel = loadKernel();
  const isAlone = line.parentIdCount === 1 && !line.hasNul;
  if (kernel === null || !isAlone || !kernel.scanLong(line, take)) {
    const { head } = line;
    scanPlainly(head, 0, head.length, take);
  }
}

const plainRowsMax = 1024;
const plainBytes = plainRowsMax * (12 * 4 + 8);

/** Makes rows of which none is trusted. */
function scanPlainly(
  bytes: Buffer,
  start: number,
  end: number,
  take: (rows: ScannedRows) => void,
): void {
  const rows = new ScannedRows(new ArrayBuffer(plainBytes), 0, plainRowsMax);
  rows.bytes = bytes;
  for (let at = start; at <= end;) {
    rows.count = 0;
    for (; at <= end && rows.count < plainRowsMax; rows.count += 1) {
      const found = bytes.indexOf(10, at);
      const lineEnd = found === -1 || found > end ? end : found;
      rows.start[rows.count] = at;
      rows.length[rows.count] = lineEnd - at;
      at = lineEnd + 1;
    }
    take(rows);
  }
}

interface KernelNumber {
  readonly value: number;
}

/** The used part of WebAssembly, whose types belong to browsers. */
interface WebAssemblyApi {
  readonly Module: new (code: Uint8Array) => object;
  readonly Instance: new (module: object, imports: object) => { readonly exports: unknown };
}

/** The exports of the module; positions are addresses in its memory. */
interface KernelExports {
  readonly memory: { readonly buffer: ArrayBuffer };
  readonly WINDOW: KernelNumber;
  readonly WINDOW_BYTES: KernelNumber;
  readonly KINDS: KernelNumber;
  readonly ROWS: KernelNumber;
  readonly ANSWER: KernelNumber;
  readonly CHECK: KernelNumber;
  readonly rowsMax: KernelNumber;
  scan(from: number, to: number): number;
  scanCut(
    start: number,
    tail: number,
    end: number,
    customTypes: number,
    datas: number,
    contents: number,
    messages: number,
  ): void;
  readonly readAnswer: LineReader["read"];
  readonly mayHaveSpent: LineReader["mayHaveSpent"];
  readonly checkRecord: LineReader["check"];
  rowCount(): number;
  kindCount(): number;
  clearKinds(): void;
}

/** Null: this process cannot have it. */
let kernel: ScanKernel | null | undefined;

/** Null without WebAssembly (`--jitless`), or without address space for its memory. */
function loadKernel(): ScanKernel | null {
  try {
    return new ScanKernel(Buffer.from(kernelCode, "base64"));
  } catch {
    return null;
  }
}

const kindBytes = 256;
/** Kinds after which the table is cleared before a scan, so that one scan has room for more. */
const kindsKept = 128;
/** Blocks are read whole, so up to so many bytes after the last line. */
const slackBytes = 128;

/** An instance of the kernel: see {@link scanLines}. */
export class ScanKernel {
  readonly #exports: KernelExports;
  readonly #bytes: Buffer;
  readonly #rows: ScannedRows;
  readonly #window: number;
  readonly #windowBytes: number;
  #kinds: ScannedKind[] = [];
  #isScanning = false;

  /** @throws What WebAssembly throws: there is none, or no address space for its memory. */
  constructor(code: Uint8Array) {
    // Decoding boundary: the module is ours.
    const { Module, Instance } = Reflect.get(globalThis, "WebAssembly") as WebAssemblyApi;
    const exports = new Instance(new Module(code), {}).exports as KernelExports;
    this.#exports = exports;
    const { buffer } = exports.memory;
    this.#bytes = Buffer.from(buffer);
    this.#window = exports.WINDOW.value;
    this.#windowBytes = exports.WINDOW_BYTES.value;
    const { ROWS, rowsMax, ANSWER, CHECK, readAnswer: read, mayHaveSpent } = exports;
    const [place, idPlace, check] = [ANSWER.value, CHECK.value, exports.checkRecord];
    const reader = { bytes: this.#bytes, place, idPlace, check, read, mayHaveSpent };
    this.#rows = new ScannedRows(buffer, ROWS.value, rowsMax.value, reader);
    this.#rows.bytes = this.#bytes;
  }

  /** As {@link scanLines}; false if that is to be done without it. */
  scan(bytes: Buffer, start: number, end: number, take: (rows: ScannedRows) => void): boolean {
    // Columns and window are in use while a batch is taken.
    if (this.#isScanning || end - start > this.#windowBytes - slackBytes) return false;
    const length = end - start;
    bytes.copy(this.#bytes, this.#window, start, end);
    this.#bytes[this.#window + length] = 10;
    const to = this.#window + length + 1;
    this.#rows.shift = start - this.#window;
    this.#limitKinds();
    for (let from = this.#window; from < to;) {
      const next = this.#exports.scan(from, to);
      if (next <= from) throw new Error("the scan kernel makes no progress");
      from = next;
      this.#give(take);
    }
    return true;
  }

  /** As {@link scanLongLine}, of a line that is trusted otherwise. */
  scanLong(line: LongLine, take: (rows: ScannedRows) => void): boolean {
    if (this.#isScanning) return false;
    const { head, tail, customTypeCount, payloadKeyCounts } = line;
    const { data, content, message } = payloadKeyCounts;
    const tailStart = this.#window + lineEdgeBytes + 1;
    head.copy(this.#bytes, this.#window);
    this.#bytes[this.#window + head.length] = 10;
    tail.copy(this.#bytes, tailStart);
    const tailEnd = tailStart + tail.length;
    this.#bytes[tailEnd] = 10;
    this.#limitKinds();
    const ends = [this.#window, tailStart, tailEnd] as const;
    this.#exports.scanCut(...ends, customTypeCount, data, content, message);
    this.#give(take);
    return true;
  }

  #give(take: (rows: ScannedRows) => void): void {
    const rows = this.#rows;
    rows.count = this.#exports.rowCount();
    while (this.#kinds.length < this.#exports.kindCount()) {
      this.#kinds.push(this.#kindAt(this.#kinds.length));
    }
    rows.kinds = this.#kinds;
    this.#isScanning = true;
    try {
      take(rows);
    } finally {
      this.#isScanning = false;
    }
  }

  /** A list that callers hold stays what it was. */
  #limitKinds(): void {
    if (this.#kinds.length < kindsKept) return;
    this.#exports.clearKinds();
    this.#kinds = [];
  }

  #kindAt(kind: number): ScannedKind {
    const bytes = this.#bytes;
    const at = this.#exports.KINDS.value + kind * kindBytes;
    const form = bytes.readUInt32LE(at);
    const typeEnd = at + 16 + bytes.readUInt32LE(at + 4);
    const other = bytes.toString("latin1", typeEnd, typeEnd + bytes.readUInt32LE(at + 8));
    return {
      type: bytes.toString("latin1", at + 16, typeEnd),
      role: form === 1 ? other : undefined,
      customType: form === 2 ? other : undefined,
    };
  }
}
