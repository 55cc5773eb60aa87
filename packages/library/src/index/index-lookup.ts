/** Which lines of which files a search reads, by the index. */
import { createHash } from "node:crypto";
import { earlierFiles } from "@branchlog/core/rows";
import { fingerprintOf } from "@branchlog/core/files";
import type { LogFingerprint } from "@branchlog/core/files";
import type { ByteSource } from "@branchlog/streaming";
import { isUnchanged } from "../catalog/session-files.ts";
import type { SessionFile } from "../catalog/session-files.ts";
import type { Search } from "../search/search-terms.ts";
import { IndexDatabase } from "./index-database.ts";
import type { IndexedFile, IndexedLine } from "./index-database.ts";
import { matchExpression, nameExpression } from "./indexed-words.ts";

/** The lines that may match among those that are indexed. */
export interface IndexedPart {
  /** In file order. */
  readonly candidates: readonly IndexedLine[];
  /** What is indexed, in bytes and lines: all of the rest may match. */
  readonly cursor: number;
  readonly lines: number;
  /** In epoch ms. */
  readonly indexedAtMs: number;
}

/** Of a file without a line that may match. */
export interface WithoutMatch {
  /** Whose transcript it is; "" for a log. */
  readonly agent: string;
  /** In epoch ms. */
  readonly indexedAtMs: number;
}

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
    if (known === undefined || !isAsIndexed(known, file)) return undefined;
    const { id, agent, indexedAtMs } = known;
    if (agent === undefined) return { agent: "", indexedAtMs };
    const isWhole = known.cursor === known.before + file.size;
    return isWhole && !this.#lines.has(id) ? { agent, indexedAtMs } : undefined;
  }

  /** Undefined if a stored log, which never changes, may match. */
  withoutStored(key: string): WithoutMatch | undefined {
    const known = this.#files.get(key);
    if (known === undefined || known.cursor < known.size || known.cursor === 0) return undefined;
    const { id, agent, indexedAtMs } = known;
    return this.#lines.has(id) ? undefined : { agent: agent ?? "", indexedAtMs };
  }

  /** Undefined if all of the file has to be read. @throws Errors of SQLite and of the system. */
  partOf(file: SessionFile, source: ByteSource): IndexedPart | undefined {
    const known = this.#files.get(file.path);
    if (known === undefined || known.cursor === 0) return undefined;
    if (!isAsIndexed(known, file) && !continuesIndexed(known, file, source)) return undefined;
    const numbers = this.#lines.get(known.id) ?? [];
    const candidates = this.#database.placesOf(known.id, numbers);
    // Another process is indexing the file anew.
    if (candidates.length < numbers.length) return undefined;
    const { cursor, lines, indexedAtMs } = known;
    // An interrupted update may have left more.
    return { candidates: candidates.filter(({ at }) => at < cursor), cursor, lines, indexedAtMs };
  }
}

/** Whether a file still begins with what was indexed. */
export function continuesIndexed(
  known: IndexedFile,
  { identity, path }: SessionFile,
  source: ByteSource,
): boolean {
  if (known.identity !== identity || known.parts !== earlierFiles(path).length) return false;
  return digestOf(fingerprintOf(source, known.cursor)) === known.digest;
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

/** What stands for the path of a stored log. */
export function storedKey(store: string, name: string): string {
  return `${store}#${name}`;
}

export function isAsIndexed(known: IndexedFile, file: SessionFile): boolean {
  if (known.cursor === 0 || !isUnchanged(known, file)) return false;
  return known.agent === "" || known.parts === earlierFiles(file.path).length;
}
