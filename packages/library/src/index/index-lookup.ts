/** Which lines of which files a search reads, by the index. */
import { createHash } from "node:crypto";
import { earlierFiles } from "@branchlog/core/rows";
import { fingerprintOf } from "@branchlog/core/files";
import type { LogFingerprint } from "@branchlog/core/files";
import type { ByteSource } from "@branchlog/streaming";
import type { LogSource } from "@branchlog/core/rows";
import { mayBeDocument, stampBeside } from "../catalog/agent-files.ts";
import { filesStamp, isUnchanged } from "../catalog/session-files.ts";
import type { SessionFile } from "../catalog/session-files.ts";
import type { Search } from "../search/search-terms.ts";
import { IndexDatabase } from "./index-database.ts";
import type { IndexedFile, IndexedLine } from "./index-database.ts";
import { matchExpression, nameExpression } from "./indexed-words.ts";

/** The lines that may match among those that are indexed. */
export interface IndexedPart {
  /** In file order. */
  readonly candidates: readonly IndexedLine[];
  /** The indexed part, in bytes and lines: all of the rest may match. */
  readonly cursor: number;
  readonly lines: number;
  /** The stamp of the files next to it, whose texts are indexed, too; undefined: unknown. */
  readonly sides: string | undefined;
}

/** Of a file without a line that may match. */
export interface WithoutMatch extends Pick<IndexedPart, "sides"> {
  /** Whose transcript it is; "" for a log. */
  readonly agent: string;
}

/** A file, or another source of the bytes of a log, with the paths of earlier files. */
export type IndexedSource = ByteSource & Pick<LogSource, "before" | "earlier">;

export class IndexLookup {
  readonly #database: IndexDatabase;
  readonly #files: ReadonlyMap<string, IndexedFile>;
  readonly #lines: ReadonlyMap<number, readonly number[]>;

  private constructor(
    database: IndexDatabase,
    files: readonly IndexedFile[],
    lines: ReadonlyMap<number, readonly number[]>,
  ) {
    this.#database = database;
    this.#files = new Map(files.map((file) => [file.path, file]));
    this.#lines = lines;
  }

  /**
   * Undefined if the index cannot tell.
   * @throws Errors of SQLite and of the system.
   */
  static async open(search: Search): Promise<IndexLookup | "missing" | undefined> {
    const { wanted = [], takesNames } = search;
    const database = await IndexDatabase.openExisting();
    if (database === undefined) return "missing";
    try {
      const found = database.read(() => {
        const expression = matchExpression(wanted, database.vocabulary());
        if (expression === undefined) return undefined;
        const lines = new Map(database.linesWith(expression));
        if (takesNames) addNamed(lines, wanted, search, database);
        return new IndexLookup(database, database.files(), lines);
      });
      if (found === undefined) database.close();
      return found;
    } catch (error) {
      database.close();
      throw error;
    }
  }

  close(): void {
    this.#database.close();
  }

  /** Undefined if a file may match by what it has itself. Nothing is opened. */
  withoutMatch(file: SessionFile): WithoutMatch | undefined {
    const known = this.#files.get(file.path);
    if (known === undefined || !isWhollyIndexed(known, file)) return undefined;
    const { id, agent = "", sides } = known;
    return this.#lines.has(id) ? undefined : { agent, sides };
  }

  /** Whether a document, which need not be read then, has no line that may match. */
  isDocumentWithout(file: SessionFile): boolean {
    const known = this.#files.get(file.path);
    if (known === undefined || !isDocumentIndexed(known, file)) return false;
    return !this.#lines.has(known.id);
  }

  /** Undefined if a stored log, which never changes, may match. */
  withoutStored(key: string): WithoutMatch | undefined {
    const known = this.#files.get(key);
    if (known === undefined || known.cursor < known.size || known.cursor === 0) return undefined;
    const { id, agent = "", sides } = known;
    return this.#lines.has(id) ? undefined : { agent, sides };
  }

  /** Undefined if all of the file has to be read. @throws Errors of SQLite and of the system. */
  partOf(file: SessionFile, source: IndexedSource): IndexedPart | undefined {
    const known = this.#files.get(file.path);
    if (known?.agent === undefined || !isAsIndexed(known, file, source)) return undefined;
    const numbers = this.#lines.get(known.id) ?? [];
    const candidates = this.#database.placesOf(known.id, numbers);
    // Another process is indexing the file again.
    if (candidates.length < numbers.length) return undefined;
    const { cursor, lines, sides } = known;
    // An interrupted update may have left more.
    return { candidates: candidates.filter(({ at }) => at < cursor), cursor, lines, sides };
  }

  /** How many bytes an update would read. */
  unindexedBytes(file: SessionFile, size: number, part: IndexedPart | undefined): number {
    const known = this.#files.get(file.path);
    if (known !== undefined && mayBeDocument(file.path)) {
      return isDocumentIndexed(known, file) ? 0 : size;
    }
    if (known === undefined || part !== undefined) {
      return known !== undefined && !isWorthReading(known, size) ? 0 : size - (part?.cursor ?? 0);
    }
    return known.agent === undefined ? 0 : size;
  }
}

/** Whether a document is as it was indexed, with the other files that it is made of. */
export function isDocumentIndexed(known: IndexedFile, file: SessionFile): boolean {
  if (!isWhollyIndexed(known, file) || known.sides === undefined) return false;
  return known.sides === stampBeside(file.path);
}

/** A transcript is read from its start again once it has grown by this part. */
const transcriptGrowth = 0.25;

/** Whether what was appended is indexed now: of a transcript all of it has to be read for that. */
export function isWorthReading({ agent, cursor }: IndexedFile, size: number): boolean {
  return agent === "" ? size > cursor : size >= cursor * (1 + transcriptGrowth);
}

/** Whether all of a file is indexed. Nothing is opened: false where that would tell. */
export function isWhollyIndexed(known: IndexedFile, file: SessionFile): boolean {
  const { agent, before, earlier, cursor } = known;
  if (cursor === 0 || before > 0 || earlier !== "" || !isUnchanged(known, file)) return false;
  // How long the log is that is made of a document is not known without it.
  if (agent === undefined || mayBeDocument(file.path)) return true;
  return cursor === file.size && (agent === "" || earlierFiles(file.path).length === 0);
}

/**
 * Whether a file is up to the cursor as it was indexed: it has the same stamp, or is larger and has
 * the same bytes at its start and before the cursor. A file that was changed in its middle and grew
 * is treated as appended to, as by checkpoints.
 */
export function isAsIndexed(known: IndexedFile, file: SessionFile, source: IndexedSource): boolean {
  if (known.cursor === 0 || known.identity !== file.identity) return false;
  if (known.earlier === undefined || known.before !== source.before) return false;
  if (known.earlier !== filesStamp(source.earlier)) return false;
  if (isUnchanged(known, file)) return true;
  return file.size > known.size && digestOf(fingerprintOf(source, known.cursor)) === known.digest;
}

export function digestOf({ start, beforeCursor }: LogFingerprint): string {
  return createHash("sha256").update(start).update(beforeCursor).digest("base64");
}

/** Adds the lines that name their session so that the query matches, with letters left out. */
function addNamed(
  lines: Map<number, readonly number[]>,
  wanted: readonly string[],
  search: Search,
  database: IndexDatabase,
): void {
  for (const [fileId, numbers] of database.linesWith(nameExpression(wanted))) {
    const known = new Set(lines.get(fileId));
    const named = numbers.filter((number) =>
      database.namesOf(fileId, number).some((name) => search.matchName(name, "") !== undefined),
    );
    const all = new Set([...known, ...named]);
    if (all.size > known.size)
      lines.set(
        fileId,
        [...all].sort((one, other) => one - other),
      );
  }
}

/** The key of a stored log instead of a path. */
export function storedKey(store: string, name: string): string {
  return `${store}#${name}`;
}
