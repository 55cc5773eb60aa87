/**
 * The sessions of a directory as of its last examination. Examining it again costs a stat of each
 * file, and reads only what is new in those that changed, also since another process examined it
 * and saved the result. A file that cannot be read keeps its last known facts; a directory that is
 * missing has no sessions.
 */
import { errorCodeOf } from "../store/ports.ts";
import { chunkBytesDefault } from "@branchlog/streaming";
import { CatalogFile } from "./catalog-file.ts";
import { CatalogStore } from "./catalog-store.ts";
import type { CatalogMode } from "./catalog-store.ts";
import { filesReadAtOnceMax } from "./limits.ts";
import type { ListedSession } from "./listed-session.ts";
import { mapConcurrently } from "./map-concurrently.ts";
import { Ranking } from "./listed-session.ts";
import { isUnlistable, lookAtFile } from "./session-files.ts";
import type { OnAlias, SessionFile } from "./session-files.ts";

/** What became of one session: it was not there `before`, or is not there `now`, or is another. */
export interface SessionChange {
  readonly before: ListedSession | undefined;
  readonly now: ListedSession | undefined;
}

/** Which files, and how they are known. */
export interface DirectoryCatalogOptions {
  /** The files that are there, in the order in which they are to be read. */
  readonly list: (signal: AbortSignal | undefined, onAlias: OnAlias) => Promise<SessionFile[]>;
  /** Whether the result is saved beside the files, and read from there. */
  readonly saved: CatalogMode;
  /** The time, in epoch ms. */
  readonly now: () => number;
}

/** A file and the session in it; undefined if it is not one, or never was read. */
export interface LookedAtFile {
  readonly session: ListedSession | undefined;
  /** Its place among the files of this look, and how many these are. */
  readonly index: number;
  readonly total: number;
}

/** One look. */
export interface CatalogLook {
  /** Files to examine; null for all. Unknown ones are left for the next examination of all. */
  readonly paths: ReadonlySet<string> | null;
  /** Called with each session that has become another, as it is read. */
  readonly onChange?: (change: SessionChange) => void;
  /** Called after each file, as they are read, which is not quite their order. */
  readonly onLooked?: ((file: LookedAtFile) => void) | undefined;
  readonly signal: AbortSignal | undefined;
}

/** One update at a time. */
export class DirectoryCatalog {
  readonly #options: DirectoryCatalogOptions;
  readonly #store: CatalogStore;
  readonly #files = new Map<string, CatalogFile>();
  /** Further names of files, with those under which they are listed. */
  readonly #aliases = new Map<string, string>();
  readonly #ranking = new Ranking(comesBefore);
  #unlisted: readonly string[] = [];

  constructor(options: DirectoryCatalogOptions) {
    this.#options = options;
    this.#store = new CatalogStore(options.saved);
  }

  /** The path under which the file of that name is listed; null if it was not there so far. */
  listedPath(path: string): string | null {
    if (this.#files.has(path)) return path;
    return this.#aliases.get(path) ?? null;
  }

  /** The sessions, latest change first; an array of the caller's own. */
  sessions(): ListedSession[] {
    return this.#ranking.items();
  }

  /** Paths of names that are not UTF-8, with U+FFFD for what cannot be written; in listed order. */
  get unlisted(): readonly string[] {
    return this.#unlisted;
  }

  /** Updates the list. Throws what listing the directory throws, and the signal's reason. */
  async look({ paths, onChange, onLooked, signal }: CatalogLook): Promise<void> {
    const lookedAtMs = this.#options.now();
    const named = paths === null ? null : [...paths].map((path) => lookAtFile(path));
    // A name that leads elsewhere, or nowhere, may leave others of its file.
    const isSame = named?.every((file) => this.#isSame(file)) ?? false;
    const files = named !== null && isSame ? named : await this.#list(signal);
    const there = files === named ? null : new Set(files.map(({ path }) => path));
    if (there !== null) {
      this.#unlisted = files.filter(isUnlistable).map(({ path }) => path);
      this.#forgetOthers(there, onChange);
    }
    const chunks: Buffer[] = [];
    const options = { atOnceMax: filesReadAtOnceMax, signal };
    try {
      await mapConcurrently(files, options, async (file, index, lane) => {
        // One file gets no more than it needs.
        if (files.length > 1) chunks[lane] ??= Buffer.allocUnsafeSlow(chunkBytesDefault);
        await this.#read(file, { lookedAtMs, chunk: chunks[lane], signal, onChange });
        const session = this.#files.get(file.path)?.session;
        onLooked?.({ session, index, total: files.length });
      });
    } finally {
      // A caller that aborts need not begin at the start the next time.
      await this.#store.save(there);
    }
  }

  /** As many as are there; none, if the directory is not. */
  async #list(signal: AbortSignal | undefined): Promise<SessionFile[]> {
    try {
      this.#aliases.clear();
      return await this.#options.list(signal, (path, listed) => {
        this.#aliases.set(path, listed);
      });
    } catch (error) {
      if (errorCodeOf(error) === "ENOENT") return [];
      throw error;
    }
  }

  async #read(
    file: SessionFile,
    { lookedAtMs, chunk, signal, onChange }: ReadOptions,
  ): Promise<void> {
    if (!file.isReadable) {
      this.#forget(file.path, onChange);
      return;
    }
    const known = this.#files.get(file.path) ?? (await this.#savedFile(file.path));
    this.#files.set(file.path, known);
    const before = known.session;
    try {
      const readBytes = await known.look(file, lookedAtMs, { chunk, signal });
      if (known.session?.transcript !== undefined) await this.#store.leaveAlone(file.path);
      else if (readBytes > 0) await this.#store.note(file.path, known.save(), readBytes);
    } catch {
      signal?.throwIfAborted();
      return;
    }
    this.#rank({ before, now: known.session }, onChange);
  }

  async #savedFile(path: string): Promise<CatalogFile> {
    return new CatalogFile(await this.#store.savedFile(path));
  }

  #isSame({ path, identity, isReadable }: SessionFile): boolean {
    const known = this.#files.get(path)?.identity;
    return isReadable && (known === undefined || known === identity);
  }

  #forgetOthers(there: ReadonlySet<string>, onChange: CatalogLook["onChange"]): void {
    const gone = [...this.#files.keys()].filter((path) => !there.has(path));
    for (const path of gone) this.#forget(path, onChange);
  }

  #forget(path: string, onChange: CatalogLook["onChange"]): void {
    const before = this.#files.get(path)?.session;
    this.#files.delete(path);
    this.#rank({ before, now: undefined }, onChange);
  }

  #rank(change: SessionChange, onChange: CatalogLook["onChange"]): void {
    const { before, now } = change;
    if (before === now) return;
    if (before !== undefined) this.#ranking.remove(before);
    if (now !== undefined) this.#ranking.add(now);
    onChange?.(change);
  }
}

interface ReadOptions {
  readonly lookedAtMs: number;
  readonly chunk: Buffer | undefined;
  readonly signal: AbortSignal | undefined;
  readonly onChange: CatalogLook["onChange"];
}

function comesBefore(one: ListedSession, other: ListedSession): boolean {
  const laterMs = one.modifiedMs - other.modifiedMs;
  return laterMs === 0 ? one.path < other.path : laterMs > 0;
}
