/** Directories of sessions that have a saved catalog, and how a process that begins now lists them. */
import { join } from "node:path";
import { readCounter } from "@branchlog/streaming";
import type { ListedSession } from "@branchlog/core";
import type { CatalogMode } from "../../../packages/core/src/catalog/catalog-store.ts";
import { DirectoryCatalog } from "../../../packages/core/src/catalog/directory-catalog.ts";
import {
  savedCatalogName,
  sessionFilesIn,
} from "../../../packages/core/src/catalog/session-files.ts";
import { header, message, name, user, writeLines } from "./session-lines.ts";

/** How {@link list} lists. */
export interface ListOptions {
  readonly saved?: CatalogMode;
  readonly signal?: AbortSignal;
  readonly onLooked?: () => void;
}

/** As a process finds it that begins now. */
export async function list(directory: string, options: ListOptions = {}): Promise<ListedSession[]> {
  const catalog = new DirectoryCatalog({
    list: (signal) => sessionFilesIn(directory, signal),
    saved: options.saved ?? "auto",
    // Nothing is settled that was changed in the last moments: these files were, long ago.
    now: () => Date.now() + 60_000,
  });
  const { signal, onLooked } = options;
  await catalog.look({ paths: null, signal, onLooked });
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
