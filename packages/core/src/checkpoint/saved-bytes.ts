/**
 * Bytes in a file of pages, with a content version: derived data of a directory of logs in one
 * file. With another version it is treated as missing, and a damaged page as filled.
 */
import { Buffer } from "node:buffer";
import { pause } from "@branchlog/streaming";
import type { Steps } from "@branchlog/streaming";
import { SavedFields } from "../entries/saved-fields.ts";
import { pageCount, pageElements, savedColumn } from "../index-table/saved-pages.ts";
import type { SavedColumn } from "../index-table/saved-pages.ts";
import { inLargeChunks } from "../platform/atomic-file.ts";
import type { FileSystem, Ports } from "../platform/ports.ts";
import { beginCheckpoint, loadPages } from "./checkpoint-file.ts";
import { filePieces } from "./page-file.ts";
import type { FileKind, PageFile } from "./page-file.ts";

export interface BytesKind extends FileKind {
  /** Changes whenever the bytes change their meaning. */
  readonly contents: string;
  readonly bytesMax: number;
  /** In the place of each byte of a damaged page. */
  readonly filler: number;
}

/** Replaces the file atomically. Throws errors of the file system. */
export function* saveBytes(
  ports: Ports,
  path: string,
  kind: BytesKind,
  bytes: Buffer,
): Steps<void> {
  const file = beginCheckpoint(ports, path);
  try {
    const json = { version: kind.contents, bytes: bytes.length };
    const pieces = filePieces(kind, json, [savedColumn(bytes.length, () => bytes)]);
    for (const chunk of inLargeChunks(pieces)) {
      file.add(chunk);
      yield pause;
    }
    file.close();
    file.replace();
  } finally {
    file.discard();
  }
}

/** Undefined for a missing file, for another version, and if it is not such a file. */
export function* loadBytes(
  fs: FileSystem,
  path: string,
  kind: BytesKind,
): Steps<Buffer | undefined> {
  const file = yield* loadPages(fs, path, kind, (found) => found);
  return file && (yield* readBytes(file, kind));
}

/** As {@link loadBytes}, of a file that is open. Throws nothing. */
export function* readBytes(file: PageFile, kind: BytesKind): Steps<Buffer | undefined> {
  const column = columnOf(file, kind);
  if (column === undefined) return undefined;
  const bytes = Buffer.allocUnsafe(column.count);
  for (let page = 0; page < pageCount(column); page += 1) {
    const target = bytes.subarray(...pageElements(column, page));
    try {
      column.read(page, target);
    } catch {
      target.fill(kind.filler);
    }
    yield pause;
  }
  return bytes;
}

function columnOf(file: PageFile, { contents, bytesMax }: BytesKind): SavedColumn | undefined {
  try {
    const fields = new SavedFields(file.text);
    const bytes = fields.whole("bytes", 1, bytesMax);
    const column = file.take(bytes, Uint8Array.BYTES_PER_ELEMENT);
    file.requireAllTaken();
    return fields.text("version") === contents ? column : undefined;
  } catch {
    return undefined;
  }
}
