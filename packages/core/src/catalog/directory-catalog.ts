/**
 * The sessions of a directory, as they were when it was last looked at. Looking again costs a look
 * at each file, and reads only what is new in those that changed. What cannot be read is left as it
 * was known; a directory that is not there has no sessions.
 */
import { chunkBytesDefault } from "@branchlog/streaming";
import { CatalogFile } from "./catalog-file.ts";
import { filesReadAtOnceMax } from "./limits.ts";
import type { ListedSession } from "./listed-session.ts";
import { mapConcurrently } from "./map-concurrently.ts";
import { Ranking } from "./ranking.ts";
import { lookAtFile, sessionFilesIn, sessionFilesInAndBelow } from "./session-files.ts";
import type { SessionFile } from "./session-files.ts";

/** What became of one session: it was not there `before`, or is not there `now`, or is another. */
export interface SessionChange {
  readonly before: ListedSession | undefined;
  readonly now: ListedSession | undefined;
}

/** Which directory. */
export interface DirectoryCatalogOptions {
  readonly directory: string;
  /** Whether the files right in its sub-directories count, too. */
  readonly subdirectories: boolean;
  /** The time, in epoch ms. */
  readonly now: () => number;
}

/** One look. */
export interface CatalogLook {
  /** Files to look at; null for all. Those that are not known are left for a look at all. */
  readonly paths: ReadonlySet<string> | null;
  /** Called with each session that has become another, as it is read. */
  readonly onChange: (change: SessionChange) => void;
  readonly signal: AbortSignal;
}

/** See the file comment. One look at a time. */
export class DirectoryCatalog {
  readonly #options: DirectoryCatalogOptions;
  readonly #files = new Map<string, CatalogFile>();
  /** Further names of files, with those under which they are listed. */
  readonly #aliases = new Map<string, string>();
  readonly #ranking = new Ranking(comesBefore);

  constructor(options: DirectoryCatalogOptions) {
    this.#options = options;
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

  /** Looks again. Throws what listing the directory throws, and the signal's reason. */
  async look({ paths, onChange, signal }: CatalogLook): Promise<void> {
    const lookedAtMs = this.#options.now();
    const named = paths === null ? null : await lookAtAll(paths);
    // A name that leads elsewhere, or nowhere, may leave others of its file.
    const isSame = named?.every((file) => this.#isSame(file)) ?? false;
    const files = named !== null && isSame ? named : await this.#list(signal);
    if (files !== named) this.#forgetOthers(files, onChange);
    const chunks: Buffer[] = [];
    const options = { atOnceMax: filesReadAtOnceMax, signal };
    await mapConcurrently(files, options, async (file, _, lane) => {
      if (!file.isReadable) {
        this.#forget(file.path, onChange);
        return;
      }
      chunks[lane] ??= Buffer.allocUnsafeSlow(chunkBytesDefault);
      await this.#read(file, { lookedAtMs, chunk: chunks[lane], signal, onChange });
    });
  }

  /** Latest change first, so that what is looked for most often is read first. */
  async #list(signal: AbortSignal): Promise<SessionFile[]> {
    const { directory, subdirectories } = this.#options;
    try {
      const list = subdirectories ? sessionFilesInAndBelow : sessionFilesIn;
      this.#aliases.clear();
      const files = await list(directory, signal, (path, listed) => {
        this.#aliases.set(path, listed);
      });
      return files.sort((one, other) => other.mtimeMs - one.mtimeMs);
    } catch (error) {
      if (error instanceof Error && "code" in error && error.code === "ENOENT") return [];
      throw error;
    }
  }

  async #read(
    file: SessionFile,
    { lookedAtMs, chunk, signal, onChange }: ReadOptions,
  ): Promise<void> {
    const known = this.#files.get(file.path) ?? new CatalogFile();
    this.#files.set(file.path, known);
    const before = known.session;
    try {
      await known.look(file, lookedAtMs, { chunk, signal });
    } catch {
      signal.throwIfAborted();
      return;
    }
    this.#rank({ before, now: known.session }, onChange);
  }

  #isSame({ path, identity, isReadable }: SessionFile): boolean {
    const known = this.#files.get(path)?.identity;
    return isReadable && (known === undefined || known === identity);
  }

  #forgetOthers(files: readonly SessionFile[], onChange: CatalogLook["onChange"]): void {
    const there = new Set(files.map(({ path }) => path));
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
    onChange(change);
  }
}

interface ReadOptions extends Omit<CatalogLook, "paths"> {
  readonly lookedAtMs: number;
  readonly chunk: Buffer | undefined;
}

function comesBefore(one: ListedSession, other: ListedSession): boolean {
  const laterMs = one.modifiedMs - other.modifiedMs;
  return laterMs === 0 ? one.path < other.path : laterMs > 0;
}

async function lookAtAll(paths: ReadonlySet<string>): Promise<SessionFile[]> {
  return Promise.all([...paths].map((path) => lookAtFile(path)));
}
