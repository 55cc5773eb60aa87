/**
 * The `SessionStore` of the Claude Agent SDK over a directory or a store. Appends are idempotent by
 * uuid, for any writer; summaries are folded from the stored entries, incrementally since the last
 * list.
 */
import type {
  SessionKey,
  SessionStore,
  SessionStoreEntry,
  SessionSummaryEntry,
} from "@anthropic-ai/claude-agent-sdk";
import { isInStore, requireList, requireOptions, requireText } from "@branchlog/core/files";
import type { ListingStore } from "@branchlog/core/types";
import type { DataDirectoryOptions } from "@branchlog/library";
import { dataDirectoryNames } from "@branchlog/library/catalogs";
import { segmentsOf } from "./session-key.ts";
import { TranscriptDirectory } from "./transcript-directory.ts";
import { Batch, TranscriptLines } from "./transcript-lines.ts";
import { TranscriptStore } from "./transcript-log.ts";
import type { KeptSession, Transcript, TranscriptPlace, Transcripts } from "./transcripts.ts";

/** A store of logs, as `postgresStore()` of `branchlog/postgres`. */
export interface StoredTranscripts {
  readonly store: ListingStore;
}

/** Transcripts whose state is kept between appends; of others it is read again. */
const openMax = 256;

/**
 * A store for `query({ options: { sessionStore } })`. In a directory, sessions have the layout of
 * Claude Code (`DIR/PROJECT/SESSION.jsonl`), and `delete` moves them into the archive of the user,
 * from which `branchlog restore` restores them; from a store they are removed.
 *
 * An append returns once its entries survive the death of the process (in PostgreSQL: are
 * committed). Entries with an existing uuid are not written again; entries without one are
 * appended, except that an append that failed can be repeated.
 * @throws BranchlogError `ERR_INVALID_ARGUMENT`. Its methods reject with that for a key that cannot
 * be a name; `append` with `ERR_UNSERIALIZABLE`, `ERR_CREATE_FAILED`, `ERR_APPEND_FAILED`,
 * `ERR_APPEND_UNCERTAIN`, `ERR_LOCK_TIMEOUT`; all with the errors of the store.
 * @example
 * const sessionStore = claudeSessionStore("sessions");
 * for await (const message of query({ prompt, options: { sessionStore } })) console.log(message);
 */
export function claudeSessionStore(
  place: string | StoredTranscripts,
  options: DataDirectoryOptions = {},
): Required<SessionStore> {
  requireOptions(options, dataDirectoryNames);
  return new ClaudeSessionStore(
    isInStore<StoredTranscripts>(place)
      ? new TranscriptStore(place.store)
      : new TranscriptDirectory(requireText("The directory", place), options),
  );
}

interface OpenTranscript {
  readonly transcript: Transcript;
  /** Settles with the append before. */
  turn: Promise<void>;
  failed: Batch | undefined;
}

/** A summary, and its source. */
interface Folded {
  readonly session: KeptSession;
  readonly summary: SessionSummaryEntry | undefined;
  readonly place: TranscriptPlace | undefined;
}

class ClaudeSessionStore implements Required<SessionStore> {
  readonly #transcripts: Transcripts;
  readonly #open = new Map<string, OpenTranscript>();
  readonly #folded = new Map<string, Folded>();

  constructor(transcripts: Transcripts) {
    this.#transcripts = transcripts;
  }

  async append(key: SessionKey, entries: SessionStoreEntry[]): Promise<void> {
    const batch = new Batch(requireList("The entries", entries));
    const open = this.#opened(key);
    if (batch.lines.length === 0) return;
    const turn = open.turn.then(async () => {
      const isRepeated = open.failed?.equals(batch) === true;
      const current = isRepeated ? (open.failed ?? batch) : batch;
      open.failed = current;
      await open.transcript.append(current);
      open.failed = undefined;
    });
    open.turn = turn.catch(() => undefined);
    await turn;
  }

  async load(key: SessionKey): Promise<SessionStoreEntry[] | null> {
    const read = await this.#transcripts.at(key).read();
    const entries: SessionStoreEntry[] = [];
    const lines = new TranscriptLines((entry) => entries.push(entry));
    for await (const piece of read?.pieces ?? []) lines.push(piece);
    lines.finish();
    return entries.length === 0 ? null : entries;
  }

  async listSessions(projectKey: string): Promise<{ sessionId: string; mtime: number }[]> {
    const sessions = await this.#transcripts.sessions(projectKey);
    return sessions.map(({ sessionId, mtime }) => ({ sessionId, mtime }));
  }

  async listSessionSummaries(projectKey: string): Promise<SessionSummaryEntry[]> {
    const summaries: SessionSummaryEntry[] = [];
    for (const session of await this.#transcripts.sessions(projectKey)) {
      const key = { projectKey, sessionId: session.sessionId };
      const name = nameOf(key);
      const before = this.#folded.get(name);
      const isSame =
        before?.session.mtime === session.mtime && before.session.sizeBytes === session.sizeBytes;
      const folded = isSame ? before : await this.#fold(key, session, before);
      this.#folded.set(name, folded);
      if (folded.summary !== undefined) summaries.push({ ...folded.summary, mtime: session.mtime });
    }
    return summaries;
  }

  async delete(key: SessionKey): Promise<void> {
    await this.#transcripts.remove(key);
  }

  async listSubkeys(key: { projectKey: string; sessionId: string }): Promise<string[]> {
    return [...(await this.#transcripts.subpaths(key))];
  }

  #opened(key: SessionKey): OpenTranscript {
    const name = nameOf(key);
    const open = this.#open.get(name) ?? {
      transcript: this.#transcripts.at(key),
      turn: Promise.resolve(),
      failed: undefined,
    };
    // The one used last is last.
    this.#open.delete(name);
    this.#open.set(name, open);
    const [oldest] = this.#open.keys();
    if (this.#open.size > openMax && oldest !== undefined) this.#open.delete(oldest);
    return open;
  }

  /** Of whole lines: one that is being written is folded the next time. */
  async #fold(key: SessionKey, session: KeptSession, before?: Folded): Promise<Folded> {
    // Loaded by the program that uses this anyway, and by nobody else.
    const { foldSessionSummary } = await import("@anthropic-ai/claude-agent-sdk");
    const read = await this.#transcripts.at(key).read(before?.place);
    if (read === undefined) return { session, summary: undefined, place: undefined };
    let summary = read.from === 0 ? undefined : before?.summary;
    const fold = (entry: SessionStoreEntry): void => {
      summary = foldSessionSummary(summary, key, [entry], { mtime: session.mtime });
    };
    const lines = new TranscriptLines(fold, read.from);
    for await (const piece of read.pieces) lines.push(piece);
    return { session, summary, place: read.placeAt(lines.wholeEnd) };
  }
}

function nameOf(key: SessionKey): string {
  return segmentsOf(key).join("/");
}
