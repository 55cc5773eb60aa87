/**
 * The one format of what is derived from logs: a mark, columns in pages, and a footer with a
 * checksum of each page and a JSON text. Opening reads the footer; pages are read when they are
 * needed. A file with a damaged footer is ignored.
 */
import { endianness } from "node:os";
import { crc32 } from "node:zlib";
import { readFully, readFullySync } from "@branchlog/streaming";
import type { ByteSource, Steps } from "@branchlog/streaming";
import { malformed } from "../entries/saved-fields.ts";
import { pageCount, pageElements } from "../index-table/saved-pages.ts";
import type { SavedColumn } from "../index-table/saved-pages.ts";

export interface FileKind {
  /** Six letters. */
  readonly mark: string;
  /** Of this format; what the pages and the text mean has versions of its own. */
  readonly version: number;
  readonly textBytesMax: number;
}

/** Its text holds at most two megabytes of findings; any JSON of that length takes 250 MB. */
export const checkpointKind: FileKind = {
  mark: "BLCKPT",
  version: 6,
  textBytesMax: 4 * 1024 * 1024,
};

/** Mark, version. */
const headBytes = 16;
/** Pages, bytes of the text, checksum of the footer. */
const trailerBytes = 12;
const sumBytes = 4;
/** Read at once: usually the whole footer. */
const tailBytes = 64 * 1024;

/** Bytes of a file, and how long the elements are that they hold. */
export interface FilePiece {
  readonly bytes: Buffer;
  readonly elementBytes: number;
}

/** To be taken without pause. Throws `RangeError` if the text is too long to be read again. */
export function* typedPieces(
  kind: FileKind,
  json: object,
  columns: readonly SavedColumn[],
): Generator<FilePiece> {
  const text = Buffer.from(JSON.stringify(json));
  if (text.length > kind.textBytesMax) throw new RangeError("the text of a file is too long");
  const head = headOf(kind);
  yield { bytes: head, elementBytes: 1 };
  const sums: number[] = [];
  for (const column of columns) {
    for (let page = 0; page < pageCount(column); page += 1) {
      const bytes = column.page(page);
      sums.push(crc32(bytes));
      yield { bytes, elementBytes: column.elementBytes };
    }
  }
  const table = Buffer.alloc(sums.length * sumBytes);
  for (const [page, sum] of sums.entries()) table.writeUInt32LE(sum, page * sumBytes);
  const trailer = Buffer.alloc(trailerBytes);
  trailer.writeUInt32LE(sums.length, 0);
  trailer.writeUInt32LE(text.length, 4);
  const footer = Buffer.concat([table, text, trailer]);
  footer.writeUInt32LE(footerSum(head, footer), footer.length - sumBytes);
  yield { bytes: footer, elementBytes: 1 };
}

/** The same, as they are written. */
export function* filePieces(...parts: Parameters<typeof typedPieces>): Generator<Buffer> {
  yield* bytesOfPieces(typedPieces(...parts));
}

export function* bytesOfPieces(pieces: Iterable<FilePiece>): Generator<Buffer> {
  for (const { bytes } of pieces) yield bytes;
}

/** Undefined without a valid footer. Its columns are to be taken in the order they were saved. */
export function* openPageFile(
  source: ByteSource,
  kind: FileKind,
  size: number,
): Steps<PageFile | undefined> {
  if (size < headBytes + trailerBytes) return undefined;
  const head = yield* readFully(source, Buffer.alloc(headBytes), 0);
  if (!head.equals(headOf(kind))) return undefined;
  const tail = Buffer.alloc(Math.min(size - headBytes, tailBytes));
  yield* readFully(source, tail, size - tail.length);
  const trailer = tail.subarray(-trailerBytes);
  const pages = trailer.readUInt32LE(0);
  const textBytes = trailer.readUInt32LE(4);
  const footerBytes = pages * sumBytes + textBytes + trailerBytes;
  if (textBytes > kind.textBytesMax || headBytes + footerBytes > size) return undefined;
  const footer =
    footerBytes <= tail.length
      ? tail.subarray(-footerBytes)
      : yield* readFully(source, Buffer.alloc(footerBytes), size - footerBytes);
  if (footerSum(head, footer) !== trailer.readUInt32LE(8)) return undefined;
  const table = footer.subarray(0, pages * sumBytes);
  const text: unknown = JSON.parse(
    footer.toString("utf8", table.length, footerBytes - trailerBytes),
  );
  return new PageFile(source, text, table, size - footerBytes);
}

/** The remaining columns in a file: only the reader knows which they are, never the file. */
export class PageFile {
  readonly text: unknown;
  readonly #source: ByteSource;
  readonly #table: Buffer;
  readonly #end: number;
  #page = 0;
  #at = headBytes;

  constructor(source: ByteSource, text: unknown, table: Buffer, end: number) {
    this.text = text;
    this.#source = source;
    this.#table = table;
    this.#end = end;
  }

  /** The next column, whose pages are read when they are asked for. Throws `TypeError`. */
  take(count: number, elementBytes: number): SavedColumn {
    const start = this.#at;
    const firstSum = this.#page * sumBytes;
    const shape = { count, elementBytes };
    this.#at += count * elementBytes;
    this.#page += pageCount(shape);
    if (!(this.#at <= this.#end) || this.#page * sumBytes > this.#table.length) {
      throw malformed("fewer elements");
    }
    const read = (number: number, target: Buffer): void => {
      const [from] = pageElements(shape, number);
      readFullySync(this.#source, target, start + from * elementBytes);
      const sum = this.#table.readUInt32LE(firstSum + number * sumBytes);
      if (crc32(target) !== sum) throw malformed("other bytes of this page");
    };
    const page = (number: number): Buffer => {
      const [from, to] = pageElements(shape, number);
      const bytes = Buffer.allocUnsafe((to - from) * elementBytes);
      read(number, bytes);
      return bytes;
    };
    return { ...shape, page, read };
  }

  /** Throws `TypeError` if anything was not taken. */
  requireAllTaken(): void {
    const isAll = this.#at === this.#end && this.#page * sumBytes === this.#table.length;
    if (!isAll) throw malformed("only these columns");
  }
}

function headOf({ mark, version }: FileKind): Buffer {
  const head = Buffer.alloc(headBytes);
  head.write(`${mark}${endianness()}`, "latin1");
  head.writeUInt32LE(version, 8);
  return head;
}

/** Of all but itself. */
function footerSum(head: Buffer, footer: Buffer): number {
  return crc32(footer.subarray(0, -sumBytes), crc32(head));
}
