/** Directories of sessions that have a saved catalog, and how a process that begins now lists them. */
import { readBytes } from "../../../packages/core/src/checkpoint/saved-bytes.ts";
import { savedColumn } from "../../../packages/core/src/index-table/saved-pages.ts";
import type { PageFile } from "../../../packages/core/src/checkpoint/page-file.ts";
import { join } from "node:path";
import { readCounter, runSync } from "@branchlog/streaming";
import type { ListedSession } from "@branchlog/library";
import {
  catalogKind,
  parsedFile,
  readCatalog,
} from "../../../packages/library/src/catalog/catalog-store.ts";
import type { CatalogMode } from "../../../packages/library/src/catalog/catalog-store.ts";
import { DirectoryCatalog } from "../../../packages/library/src/catalog/directory-catalog.ts";
import {
  savedCatalogName,
  sessionFilesIn,
} from "../../../packages/library/src/catalog/session-files.ts";
import { filePieces, openPageFile } from "../../../packages/core/src/checkpoint/page-file.ts";
import { header, message, name, user, writeLines } from "./session-lines.ts";

/** How {@link list} lists. */
export interface ListOptions {
  readonly saved?: CatalogMode;
  readonly signal?: AbortSignal;
  readonly onRefreshed?: () => void;
}

/** As a process finds it that begins now. */
export async function list(directory: string, options: ListOptions = {}): Promise<ListedSession[]> {
  const catalog = new DirectoryCatalog({
    list: (signal) => sessionFilesIn(directory, signal),
    saved: options.saved ?? "auto",
    // Nothing is settled that was changed in the last moments: these files were, long ago.
    now: () => Date.now() + 60_000,
  });
  const { signal, onRefreshed } = options;
  await catalog.refresh({ paths: null, signal, onRefreshed });
  return catalog.sessions();
}

/** How many bytes of sessions `work` read. */
export async function bytesReadBy<T>(work: () => Promise<T>): Promise<number> {
  const before = readCounter.bytes;
  await work();
  return readCounter.bytes - before;
}

/** A line that makes it worth while to save what was read. */
export const large: object = message("toolResult", [{ type: "text", text: "x".repeat(1_100_000) }]);

export function catalogPath(directory: string): string {
  return join(directory, savedCatalogName);
}

/** A directory of three sessions and a file that is none, with its catalog. */
export async function savedDirectory(directory: string): Promise<string> {
  writeLines(directory, "large.jsonl", [header({ id: "large" }), user("one"), large]);
  writeLines(directory, "small.jsonl", [header({ id: "small" }), user("two"), name("Named")]);
  writeLines(directory, "empty.jsonl", [header({ id: "empty" })]);
  writeLines(directory, "other.jsonl", [{ type: "other" }]);
  await list(directory);
  return directory;
}

function fileIn(bytes: Buffer): PageFile | undefined {
  const source = {
    readSync: (target: Buffer, offset: number, length: number, position: number) =>
      bytes.copy(target, offset, position, position + length),
    read: () => Promise.reject(new Error("not asked for")),
  };
  return runSync(openPageFile(source, catalogKind, bytes.length));
}

/** The names of files in a saved catalog; undefined: it is none. */
export function namesIn(bytes: Buffer): readonly string[] | undefined {
  const file = fileIn(bytes);
  const lines = file && runSync(readBytes(file, catalogKind));
  const found = lines && readCatalog(lines);
  const whole = [...(found?.files ?? [])].filter(([, known]) => parsedFile(known) !== undefined);
  return found && whole.map(([one]) => one).toSorted();
}

/** The lines of a saved catalog. */
export function linesIn(bytes: Buffer): readonly string[] {
  const { length } = bytes;
  const text = fileIn(bytes)?.text as { readonly bytes: number };
  return bytes
    .toString("utf8", 16, Math.min(length, 16 + text.bytes))
    .split("\n")
    .slice(0, -1);
}

/** The catalog with other lines, and right checksums. */
export function withLines(bytes: Buffer, lines: readonly string[]): Buffer {
  const changed = Buffer.from(lines.map((line) => `${line}\n`).join(""));
  const text = { ...(fileIn(bytes)?.text as object), bytes: changed.length };
  const columns = [savedColumn(changed.length, () => changed)];
  return Buffer.concat([...filePieces(catalogKind, text, columns)]);
}
