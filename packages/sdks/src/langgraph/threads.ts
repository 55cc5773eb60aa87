/** Where the session of each thread is. */
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { isBranchlogError, openOrCreateSession, openSession } from "@branchlog/core";
import type { Session } from "@branchlog/core";
import { errorCodeOf, invalidArgument, nameBytesMax, resolvePath } from "@branchlog/core/files";
import type { LogStore } from "@branchlog/core/types";
import type { DataDirectoryOptions } from "@branchlog/library";
import { archiveFiles } from "@branchlog/library/catalogs";
import { decodedName, encodedName } from "@branchlog/core/files";

export interface Threads {
  ids(): Promise<readonly string[]>;
  /** Throws `ERR_LOG_MISSING` unless it creates it. */
  open(threadId: string, creates: boolean): Promise<Session>;
  /** Nothing if there is none. */
  remove(threadId: string): Promise<void>;
}

const ending = ".jsonl";

export class ThreadFiles implements Threads {
  readonly #directory: string;
  readonly #archive: DataDirectoryOptions;

  constructor(directory: string, archive: DataDirectoryOptions) {
    this.#directory = resolvePath(directory);
    this.#archive = archive;
  }

  async ids(): Promise<readonly string[]> {
    try {
      const names = (await readdir(this.#directory)).filter((name) => name.endsWith(ending));
      const ids = names.map((name) => decodedName(name.slice(0, -ending.length)));
      return ids.filter((id, at) => encodedName(id) + ending === names[at]);
    } catch (error) {
      if (errorCodeOf(error) === "ENOENT") return [];
      throw error;
    }
  }

  open(threadId: string, creates: boolean): Promise<Session> {
    const path = this.#pathOf(threadId);
    return creates ? openOrCreateSession(path) : openSession(path);
  }

  async remove(threadId: string): Promise<void> {
    await archiveFiles(this.#pathOf(threadId), [], this.#archive);
  }

  #pathOf(threadId: string): string {
    const name = encodedName(threadId);
    // Sidecars have longer names.
    if (name !== "" && name.length + 55 <= nameBytesMax)
      return join(this.#directory, name + ending);
    throw invalidArgument("The id of a thread must have 1 to about 200 bytes");
  }
}

const prefix = "langgraph.";

export class StoredThreads implements Threads {
  readonly #store: LogStore;

  constructor(store: LogStore) {
    this.#store = store;
  }

  async ids(): Promise<readonly string[]> {
    const ids: string[] = [];
    for await (const name of this.#store.names()) {
      if (name.startsWith(prefix)) ids.push(decodedName(name.slice(prefix.length)));
    }
    return ids;
  }

  open(threadId: string, creates: boolean): Promise<Session> {
    const place = { store: this.#store, id: prefix + encodedName(threadId) };
    return creates ? openOrCreateSession(place) : openSession(place);
  }

  async remove(threadId: string): Promise<void> {
    try {
      await this.#store.remove(prefix + encodedName(threadId));
    } catch (error) {
      if (!isBranchlogError(error, "ERR_LOG_MISSING")) throw error;
    }
  }
}
