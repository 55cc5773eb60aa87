/** The state of the search index, its check, and its removal. */
import { statSync } from "node:fs";
import {
  IndexDatabase,
  allDatabases,
  lockIndex,
  removeDatabase,
  searchIndexPath,
  withIndexErrors,
} from "./index-database.ts";

/** The search index of this user. */
export interface SearchIndexState {
  /** Where it is, or would be. */
  readonly path: string;
  /** Undefined if there is none, or one of another version: the next update makes one. */
  readonly index:
    | {
        readonly sizeBytes: number;
        /** When it was last written, in epoch ms. */
        readonly updatedMs: number;
        readonly files: number;
        /** Of sessions that are indexed. */
        readonly indexedBytes: number;
        readonly lines: number;
        readonly words: number;
      }
    | undefined;
}

/** @throws BranchlogError `ERR_INDEX_FAILED` for one that cannot be read. */
export function searchIndexState(): Promise<SearchIndexState> {
  return withIndexErrors(async () => {
    const path = await searchIndexPath();
    const database = await IndexDatabase.openExisting();
    if (database === undefined) return { path, index: undefined };
    try {
      const { size, mtimeMs } = statSync(path);
      const files = database.files();
      const indexedBytes = files.reduce((sum, { cursor }) => sum + cursor, 0);
      const counts = database.read(() => database.counts());
      const index = { sizeBytes: size, updatedMs: mtimeMs, files: files.length, indexedBytes };
      return { path, index: { ...index, ...counts } };
    } finally {
      database.close();
    }
  });
}

/**
 * Reads the whole index, and resolves if it is valid or missing.
 * @throws BranchlogError `ERR_INDEX_FAILED`; `ERR_LOCK_TIMEOUT` while another process updates it.
 */
export function checkSearchIndex(): Promise<void> {
  return withIndexErrors(async () => {
    const path = await searchIndexPath();
    if (statSync(path, { throwIfNoEntry: false }) === undefined) return;
    // A long read must not be treated as abandoned.
    const lock = await lockIndex(path);
    try {
      const database = await IndexDatabase.openExisting();
      try {
        database?.check();
      } finally {
        database?.close();
      }
    } finally {
      lock.releaseSync();
    }
  });
}

/**
 * Removes the index, those of other releases and of other versions of Node included. Searches read
 * all files until it is made again.
 * @returns Whether there was one.
 * @throws BranchlogError `ERR_LOCK_TIMEOUT` while another process updates it.
 */
export async function dropSearchIndex(): Promise<boolean> {
  const paths = allDatabases();
  for (const path of paths) {
    const lock = await lockIndex(path);
    try {
      removeDatabase(path);
    } finally {
      lock.releaseSync();
    }
  }
  return paths.length > 0;
}
