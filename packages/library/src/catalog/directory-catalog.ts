/**
 * The sessions of a directory as last read. A refresh stats each file and reads only what changed.
 * An unreadable file keeps its last facts; a missing directory has no sessions.
 */
import { dialectFinder, errorCodeOf } from "@branchlog/core/files";
import type { DialectName } from "@branchlog/core/entries";
import { chunkBytesDefault } from "@branchlog/streaming";
import { CatalogFile } from "./catalog-file.ts";
import { CatalogStore } from "./catalog-store.ts";
import type { CatalogMode } from "./catalog-store.ts";
import { filesReadAtOnceMax, listedRowsMax } from "./limits.ts";
import type { ListedSession } from "./listed-session.ts";
import { mapConcurrently } from "./map-concurrently.ts";
import { Ranking } from "./listed-session.ts";
import { isUnlistable, lookAtFile } from "./session-files.ts";
import type { OnAlias, SessionFile } from "./session-files.ts";

/** No `before`: added. No `now`: removed. */
export interface SessionChange {
  readonly before: ListedSession | undefined;
  readonly now: ListedSession | undefined;
}

export interface DirectoryCatalogOptions {
  /** In the order in which they are read. */
  readonly list: (signal: AbortSignal | undefined, onAlias: OnAlias) => Promise<SessionFile[]>;
  /** Whether the result is saved next to the files and loaded from there. */
  readonly saved: CatalogMode;
  readonly now: () => number;
}

/** The session is undefined if the file is not one, or was never readable. */
export interface RefreshedFile {
  readonly session: ListedSession | undefined;
  /** Its position among the files of this refresh, and their count. */
  readonly index: number;
  readonly total: number;
}

export interface CatalogRefresh {
  /** Null: all files. Unknown files are left for the next read of all. */
  readonly paths: ReadonlySet<string> | null;
  readonly onChange?: (change: SessionChange) => void;
  /** Called after each file as it is read, nearly in their order. */
  readonly onRefreshed?: ((file: RefreshedFile) => void) | undefined;
  /** Called before each file, wanted or not. */
  readonly onFile?: (() => void) | undefined;
  /** Asked before each file is read; true skips it. Default: none. */
  readonly isUnwanted?: ((file: SessionFile) => boolean) | undefined;
  /** Whether the places of all agents are listed. Default: false. */
  readonly isWhole?: boolean;
  /** Whether sessions in databases may be left unread, after so much was read. Default: false. */
  readonly leavesUnread?: boolean | undefined;
  readonly signal: AbortSignal | undefined;
}

export class DirectoryCatalog {
  readonly #options: DirectoryCatalogOptions;
  readonly #store: CatalogStore;
  readonly #files = new Map<string, CatalogFile>();
  readonly #aliases = new Map<string, string>();
  readonly #ranking = new Ranking(comesBefore);
  /** What is in the ranking, by paths: a file may be known with other facts while it is read. */
  readonly #shown = new Map<string, ListedSession>();
  #dialectAt: ((path: string) => DialectName | undefined) | undefined;
  #unlisted: readonly string[] = [];

  constructor(options: DirectoryCatalogOptions) {
    this.#options = options;
    this.#store = new CatalogStore(options.saved);
  }

  /** Null if the file was not there so far. */
  listedPath(path: string): string | null {
    if (this.#files.has(path)) return path;
    return this.#aliases.get(path) ?? null;
  }

  /** Latest change first; the array is the caller's. */
  sessions(): ListedSession[] {
    return this.#ranking.items();
  }

  get unlisted(): readonly string[] {
    const damaged = [...this.#files].filter(([, file]) => file.isDamaged);
    return [...this.#unlisted, ...damaged.map(([path]) => path)];
  }

  /** Throws what listing the directory throws, and the signal's reason. */
  async refresh({
    paths,
    onChange,
    onRefreshed,
    onFile,
    isUnwanted,
    isWhole,
    leavesUnread = false,
    signal,
  }: CatalogRefresh): Promise<void> {
    const reads = { rowsLeft: leavesUnread ? listedRowsMax : Infinity };
    const lookedAtMs = this.#options.now();
    const named = paths === null ? null : [...paths].map((path) => lookAtFile(path));
    // A name that now leads elsewhere may have been the alias of another file.
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
      await mapConcurrently(files, options, (file, index, lane) => {
        onFile?.();
        if (isUnwanted?.(file) === true) return undefined;
        const refreshed = (): void => {
          const session = this.#files.get(file.path)?.session;
          onRefreshed?.({ session, index, total: files.length });
        };
        if (this.#recall(file, onChange)) return refreshed();
        if (files.length > 1) chunks[lane] ??= Buffer.allocUnsafeSlow(chunkBytesDefault);
        const read = { lookedAtMs, chunk: chunks[lane], signal, onChange, reads };
        return this.#read(file, read).then(refreshed);
      });
    } finally {
      // An aborted caller can resume from what was read.
      await this.#store.save(there, isWhole);
    }
  }

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

  #known(file: SessionFile): CatalogFile {
    const { path } = file;
    const known = this.#files.get(path) ?? new CatalogFile(this.#store.savedFile(path));
    this.#files.set(path, known);
    return known;
  }

  /** Whether it is as it was read. Most are, and take no turn of the event loop. */
  #recall(file: SessionFile, onChange: CatalogRefresh["onChange"]): boolean {
    if (!file.isReadable) return false;
    const known = this.#known(file);
    if (!known.recall(file)) return false;
    this.#show(file.path, known.session, onChange);
    return true;
  }

  async #read(
    file: SessionFile,
    { lookedAtMs, chunk, signal, onChange, reads }: ReadOptions,
  ): Promise<void> {
    if (!file.isReadable) {
      this.#forget(file.path, onChange);
      return;
    }
    const known = this.#known(file);
    this.#dialectAt ??= dialectFinder();
    const dialectAt = this.#dialectAt;
    try {
      const options = { chunk, signal, dialectAt };
      const isLeft = this.#isLeftUnread(known, file, reads);
      const readBytes = isLeft ? 0 : await known.read(file, lookedAtMs, options);
      if (readBytes > 0) this.#store.note(file.path, known, readBytes);
    } catch {
      // It keeps the facts that are known of it.
      signal?.throwIfAborted();
    }
    this.#show(file.path, known.session, onChange);
  }

  #isLeftUnread(known: CatalogFile, file: SessionFile, reads: Reads): boolean {
    const { rows = 0 } = file.rowFacts ?? {};
    if (rows > reads.rowsLeft && known.leaveUnread(file)) return true;
    reads.rowsLeft -= rows;
    return false;
  }

  #isSame({ path, identity, isReadable }: SessionFile): boolean {
    const known = this.#files.get(path)?.identity;
    return isReadable && (known === undefined || known === identity);
  }

  #forgetOthers(there: ReadonlySet<string>, onChange: CatalogRefresh["onChange"]): void {
    const gone = [...this.#files.keys()].filter((path) => !there.has(path));
    for (const path of gone) this.#forget(path, onChange);
  }

  #forget(path: string, onChange: CatalogRefresh["onChange"]): void {
    this.#files.delete(path);
    this.#show(path, undefined, onChange);
  }

  /** Lists these facts of a file in the place of those that it had so far. */
  #show(path: string, now: ListedSession | undefined, onChange: CatalogRefresh["onChange"]): void {
    const before = this.#shown.get(path);
    if (before === now) return;
    if (before !== undefined) this.#ranking.remove(before);
    if (now === undefined) this.#shown.delete(path);
    else {
      this.#ranking.add(now);
      this.#shown.set(path, now);
    }
    onChange?.({ before, now });
  }
}

interface ReadOptions {
  readonly lookedAtMs: number;
  readonly chunk: Buffer | undefined;
  readonly signal: AbortSignal | undefined;
  readonly onChange: CatalogRefresh["onChange"];
  readonly reads: Reads;
}

/** Of databases, in one refresh. */
interface Reads {
  rowsLeft: number;
}

/** Latest change first; equal times by path. */
export function comesBefore(one: ListedSession, other: ListedSession): boolean {
  const laterMs = one.modifiedMs - other.modifiedMs;
  return laterMs === 0 ? one.path < other.path : laterMs > 0;
}
