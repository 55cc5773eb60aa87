/**
 * The lines of one transcript, as far as they were read, and the lines of a batch that it does not
 * have yet. Entries are identified by their uuid. Those without one are identified only within an
 * append that failed and is repeated: of these, lines found after its start are not written twice.
 * No I/O.
 */
import { LineFramer, decodeLine } from "@branchlog/streaming";
import type { JsonObject } from "@branchlog/streaming";
import type { SessionStoreEntry } from "@anthropic-ai/claude-agent-sdk";
import type { ReadLines } from "@branchlog/core/engine";
import { bodyBytesMax } from "@branchlog/core/files";
import { stringAt } from "@branchlog/core/rows";
import { jsonText, unserializable } from "../json-text.ts";

interface BatchLine {
  readonly uuid: string | undefined;
  /** With its newline. */
  readonly line: Buffer;
}

/** The lines of one append. */
export class Batch {
  readonly lines: readonly BatchLine[];
  /** Where lines were found, by their number in the batch. */
  readonly #offsets = new Map<number, number>();
  /** Before it, all were found. */
  #first = 0;
  #isBegun = false;

  /** Throws `ERR_UNSERIALIZABLE` for an entry that JSON would change. */
  constructor(entries: readonly SessionStoreEntry[]) {
    this.lines = entries.map((entry) => ({
      uuid: typeof entry?.uuid === "string" ? entry.uuid : undefined,
      line: Buffer.from(`${entryText(entry)}\n`),
    }));
  }

  equals({ lines }: Batch): boolean {
    return (
      lines.length === this.lines.length &&
      this.lines.every(({ line }, at) => lines[at]?.line.equals(line) === true)
    );
  }

  /** From here on, lines that are read may be of this batch. */
  begin(): void {
    this.#isBegun = true;
  }

  /** The log is another one than that in which lines were found. */
  forget(isBegun: boolean): void {
    this.#isBegun = isBegun;
    this.#offsets.clear();
    this.#first = 0;
  }

  offsetOf(at: number): number {
    return this.#offsets.get(at) ?? -1;
  }

  /** @param line Without its newline. */
  see(line: Buffer, offset: number): void {
    if (!this.#isBegun || this.#offsets.size === this.lines.length) return;
    while (this.#offsets.has(this.#first)) this.#first += 1;
    for (let at = this.#first; at < this.lines.length; at += 1) {
      const one = this.lines[at];
      if (one === undefined || this.#offsets.has(at) || !isLine(line, one.line)) continue;
      this.#offsets.set(at, offset);
      return;
    }
  }
}

function isLine(line: Buffer, terminated: Buffer): boolean {
  return line.equals(terminated.subarray(0, -1));
}

/** The numbers of lines in a batch. */
export type BatchPart = readonly number[];

export class TranscriptLines implements ReadLines {
  /** Of the append that is being made, or that failed. */
  batch: Batch | undefined;
  readonly #framer: LineFramer;
  readonly #uuids = new Set<string>();
  readonly #onEntry: ((entry: SessionStoreEntry) => void) | undefined;

  constructor(onEntry?: (entry: SessionStoreEntry) => void, offset = 0) {
    this.#onEntry = onEntry;
    this.#framer = new LineFramer({ offset, lineBytesMax: bodyBytesMax });
  }

  get end(): number {
    return this.#framer.offset;
  }

  get isTerminated(): boolean {
    return !this.#framer.hasRest;
  }

  /** Where the last whole line ends. */
  get wholeEnd(): number {
    return this.#framer.committedOffset;
  }

  /** The bytes after the last line, such as the rest of a killed write. */
  get tail(): { readonly offset: number; readonly bytes: Buffer } | undefined {
    const { offset = 0, bytes } = this.#framer.rest() ?? {};
    return bytes ? { offset, bytes } : undefined;
  }

  /** The bytes that follow. Lines that are not JSON objects are ignored. */
  push(bytes: Buffer): void {
    this.#framer.push(bytes, {
      line: (source, start, end, offset) => this.#take(source.subarray(start, end), offset),
      longLine: () => undefined,
    });
  }

  /** At the end of what is there: a last line that lacks only its newline is an entry, too. */
  finish(): void {
    if (this.tail !== undefined) this.#take(this.tail.bytes, this.tail.offset);
  }

  /** Of a line of the batch, by its number. */
  offsetOf(id: string): number {
    return this.batch?.offsetOf(Number(id)) ?? -1;
  }

  /** The lines of the batch that are not here, each uuid once. */
  missing(batch: Batch): BatchPart {
    const seen = new Set<string>();
    const tail = this.tail && decodeLine(this.tail.bytes);
    if (tail?.ok === true) seen.add(stringAt(tail.value, "uuid") ?? "");
    const missing: number[] = [];
    for (const [at, { uuid }] of batch.lines.entries()) {
      const isHere =
        uuid === undefined ? batch.offsetOf(at) >= 0 : this.#uuids.has(uuid) || seen.has(uuid);
      if (!isHere) missing.push(at);
      if (uuid !== undefined) seen.add(uuid);
    }
    return missing;
  }

  #take(line: Buffer, offset: number): void {
    this.batch?.see(line, offset);
    const decoded = decodeLine(line);
    if (!decoded.ok) return;
    const uuid = stringAt(decoded.value, "uuid");
    if (uuid !== undefined) this.#uuids.add(uuid);
    if (isEntry(decoded.value)) this.#onEntry?.(decoded.value);
  }
}

function isEntry(value: JsonObject): value is JsonObject & SessionStoreEntry {
  return typeof value["type"] === "string";
}

const what = "An entry of the batch";

function entryText(entry: unknown): string {
  if (typeof entry !== "object" || entry === null || Array.isArray(entry)) {
    throw unserializable(what, new TypeError("it is not an object"));
  }
  if (typeof Reflect.get(entry, "type") !== "string") {
    throw unserializable(what, new TypeError("it has no type"));
  }
  return jsonText(entry, what);
}
