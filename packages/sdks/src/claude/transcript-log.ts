/**
 * Transcripts as logs of a store. A batch is stored if the log ends where it was read to; otherwise
 * stored lines of others are read, and it is retried.
 */
import type { SessionKey } from "@anthropic-ai/claude-agent-sdk";
import { BranchlogError, isBranchlogError } from "@branchlog/core";
import { commitConflictsMax } from "@branchlog/core/files";
import type { ListingStore, StoredLog } from "@branchlog/core/types";
import { keyOfName, projectPrefix, storedName } from "./session-key.ts";
import { TranscriptLines } from "./transcript-lines.ts";
import type { Batch } from "./transcript-lines.ts";
import type { KeptSession, ReadTranscript, Transcript } from "./transcripts.ts";
import type { TranscriptPlace, Transcripts } from "./transcripts.ts";

export class TranscriptStore implements Transcripts {
  readonly #store: ListingStore;

  constructor(store: ListingStore) {
    this.#store = store;
  }

  at(key: SessionKey): TranscriptLog {
    return new TranscriptLog(this.#store, storedName(key));
  }

  async sessions(projectKey: string): Promise<readonly KeptSession[]> {
    projectPrefix(projectKey);
    const sessions: KeptSession[] = [];
    for await (const { name, changedAt, sizeBytes } of this.#store.list()) {
      const key = keyOfName(projectKey, name);
      if (key === undefined || key.subpath !== undefined) continue;
      sessions.push({
        sessionId: key.sessionId,
        mtime: Math.floor(changedAt.getTime()),
        sizeBytes,
      });
    }
    return sessions;
  }

  async subpaths(key: SessionKey): Promise<readonly string[]> {
    const below = await this.#namesBelow(key);
    return below.flatMap((name) => keyOfName(key.projectKey, name)?.subpath ?? []).toSorted();
  }

  async remove(key: SessionKey): Promise<void> {
    const below = key.subpath === undefined ? await this.#namesBelow(key) : [];
    for (const name of [storedName(key), ...below]) {
      try {
        await this.#store.remove(name);
      } catch (error) {
        if (!isBranchlogError(error, "ERR_LOG_MISSING")) throw error;
      }
    }
  }

  async #namesBelow({ projectKey, sessionId }: SessionKey): Promise<readonly string[]> {
    const names: string[] = [];
    storedName({ projectKey, sessionId });
    for await (const name of this.#store.names()) {
      const key = keyOfName(projectKey, name);
      if (key?.sessionId === sessionId && key.subpath !== undefined) names.push(name);
    }
    return names;
  }
}

class TranscriptLog implements Transcript {
  readonly #store: ListingStore;
  readonly #name: string;
  #log: StoredLog | undefined;
  #generation = "";
  #lines = new TranscriptLines();

  constructor(store: ListingStore, name: string) {
    this.#store = store;
    this.#name = name;
  }

  async append(batch: Batch): Promise<void> {
    for (let attempt = 0; attempt < commitConflictsMax; attempt += 1) {
      try {
        if (await this.#tryAppend(batch)) return;
      } catch (error) {
        const isGone = isBranchlogError(error, "ERR_LOG_GONE");
        const isRaced = isBranchlogError(error, "ERR_LOG_EXISTS");
        if (!isGone && !isRaced) throw error;
        this.#log = undefined;
        batch.forget(false);
      }
    }
    const message = `Others changed ${this.#name} ${commitConflictsMax} times first; append again.`;
    throw new BranchlogError("ERR_APPEND_FAILED", message, { id: this.#name });
  }

  /** Throws `ERR_LOG_GONE`, `ERR_LOG_EXISTS`, and what the store rejects with. */
  async #tryAppend(batch: Batch): Promise<boolean> {
    const log = (this.#log ??= await this.#opened());
    if (log === undefined) {
      const missing = new TranscriptLines().missing(batch);
      batch.begin();
      await this.#store.create(this.#name, [bytesOf(batch, missing)]);
      return true;
    }
    const lines = this.#lines;
    lines.batch = batch;
    const end = () => ({ generation: this.#generation, at: lines.end });
    for await (const piece of log.read(end())) lines.push(piece);
    const missing = lines.missing(batch);
    // The read bytes may be of a state that the store loses.
    if (missing.length === 0) return (await log.flush?.(end())) !== false;
    batch.begin();
    const bytes = bytesOf(batch, missing);
    const apart = lines.isTerminated ? bytes : Buffer.concat([Buffer.from("\n"), bytes]);
    const answer = await log.append(end(), apart);
    if (answer.kind === "gone") this.#log = undefined;
    if (answer.kind === "conflict" || answer.kind === "gone") return false;
    lines.push(apart);
    return true;
  }

  async read(since?: TranscriptPlace): Promise<ReadTranscript | undefined> {
    const log = await this.#opened();
    if (log === undefined) return undefined;
    const generation = this.#generation;
    const from = since?.identity === generation ? since.at : 0;
    const placeAt = (at: number): TranscriptPlace => ({ identity: generation, at });
    return { placeAt, from, pieces: log.read({ generation, at: from }) };
  }

  /** Undefined: there is none. */
  async #opened(): Promise<StoredLog | undefined> {
    try {
      const log = await this.#store.open(this.#name);
      const end = await log.end();
      if (end === undefined) return undefined;
      if (end.generation !== this.#generation) this.#lines = new TranscriptLines();
      this.#generation = end.generation;
      return log;
    } catch (error) {
      if (isBranchlogError(error, "ERR_LOG_MISSING")) return undefined;
      throw error;
    }
  }
}

function bytesOf({ lines }: Batch, part: readonly number[]): Buffer {
  return Buffer.concat(part.flatMap((at) => lines[at]?.line ?? []));
}
