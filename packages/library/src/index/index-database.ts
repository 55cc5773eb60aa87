/**
 * The search index of the user: words of the lines of sessions, in the cache, private to the user.
 * It reports which lines may match, and holds no texts except the names of sessions. It is derived:
 * any of it can be deleted at any time. See docs/decisions/0065-a-search-index.md.
 */
import { closeSync, openSync, readdirSync, rmSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { createHash } from "node:crypto";
import { documentFormats, transcriptFormats } from "@branchlog/core/rows";
import {
  acquireLock,
  cachedSearchIndexes,
  engineSettings,
  makeCacheDirectory,
  quietly,
  reasonOf,
} from "@branchlog/core/files";
import type { FileStamp } from "../catalog/session-files.ts";
import { lookAtFile } from "../catalog/session-files.ts";
import { BranchlogError, isBranchlogError } from "@branchlog/core";
import { runAsync } from "@branchlog/streaming";
import type { HeldLock } from "@branchlog/core/types";
import { isBusy, isSqlError, sqlEngine } from "./sql-database.ts";
import type { SqlDatabase, SqlRow } from "./sql-database.ts";
import { isOfVocabulary } from "./indexed-words.ts";
import type { Vocabulary } from "./indexed-words.ts";

/** In the name of the database, so that several releases on a machine do not share one. */
const version = 3;

/**
 * The id of a line is its file's times this, and its number. More lines than this are not indexed.
 */
export const linesOfFileMax: number = 2 ** 27;

/** The indexed state of a file, with its stamp. */
export interface IndexedFile extends FileStamp {
  readonly id: number;
  readonly path: string;
  /** Whose transcript it is; "" for a log; undefined if it is not a session. */
  readonly agent: string | undefined;
  /** The stamp of the files that are read before it; "" for most, undefined: unknown. */
  readonly earlier: string | undefined;
  /** Bytes of these: offsets count them. */
  readonly before: number;
  /** The stamp of the files next to it; "" for most, undefined: unknown. */
  readonly sides: string | undefined;
  /**
   * Bytes that are indexed, of the file or of the log that is made of a document, all of whole
   * lines; 0 for a file whose indexing was interrupted.
   */
  readonly cursor: number;
  /** How many lines these are. */
  readonly lines: number;
  /** Of the bytes at the start and before the cursor, which would be texts. */
  readonly digest: string;
}

export interface IndexedLine {
  readonly number: number;
  /** Offset of its first byte. */
  readonly at: number;
  /** Without its newline. */
  readonly bytes: number;
}

export async function searchIndexPath(): Promise<string> {
  const { name } = await sqlEngine();
  return join(cachedSearchIndexes(), `index-${name}-${formId()}.db`);
}

/** Changes with the agents whose sessions are read, and with how they are read. */
function formId(): string {
  const formats = [...transcriptFormats(), ...documentFormats()];
  const owners = formats.map(({ agent, version: form }) => `${agent} ${form}`);
  const form = [version, ...owners.sort()].join("\n");
  return createHash("sha256").update(form).digest("hex").slice(0, 8);
}

const databaseName = /^index-(?:native|wasm)-[\da-f]{8}\.db$/;

/** The databases of all releases and engines. */
export function allDatabases(): readonly string[] {
  const directory = cachedSearchIndexes();
  const names = quietly(() => readdirSync(directory)) ?? [];
  return names.filter((name) => databaseName.test(name)).map((name) => join(directory, name));
}

const unusedAfterMs = 90 * 24 * 60 * 60 * 1000;

/** Of releases that were removed. */
function removeUnused(): void {
  for (const path of allDatabases()) {
    const { mtimeMs } = lookAtFile(path);
    if (Date.now() - mtimeMs > unusedAfterMs) removeDatabase(path);
  }
}

/** Throws for errors of SQLite or the system, and passes on others. */
export async function withIndexErrors<Result>(run: () => Promise<Result>): Promise<Result> {
  try {
    return await run();
  } catch (error) {
    const isOfSystem = error instanceof Error && "syscall" in error;
    if (!isSqlError(error) && !isOfSystem) throw error;
    const path = await searchIndexPath();
    const what = isBusy(error)
      ? "is in use by another process, or was by one that was just killed: try again"
      : `cannot be read or written: ${reasonOf(error)}. branchlog index drop removes it`;
    const message = `The search index ${path} ${what}. Searches read the files meanwhile.`;
    throw new BranchlogError("ERR_INDEX_FAILED", message, { path, cause: error });
  }
}

const { ports } = engineSettings({});

/** For the one process that writes. @throws BranchlogError `ERR_LOCK_TIMEOUT`. */
export async function lockIndex(path: string): Promise<HeldLock> {
  makeCacheDirectory(ports, dirname(path));
  try {
    return await runAsync(acquireLock(path, ports, 0));
  } catch (error) {
    if (!isBranchlogError(error, "ERR_LOCK_TIMEOUT")) throw error;
    const pid = error.lock?.holder?.pid ?? null;
    const who = pid === null ? "Another process" : `Process ${pid}`;
    const message = `${who} is updating the search index ${path}. Searches use its current state.`;
    throw new BranchlogError(error.code, message, { path, cause: error });
  }
}

export class IndexDatabase {
  readonly path: string;
  readonly #database: SqlDatabase;

  private constructor(path: string, database: SqlDatabase) {
    this.path = path;
    this.#database = database;
  }

  /**
   * Undefined if there is none, or it was not made completely.
   * @throws Errors of SQLite and of the system.
   */
  static async openExisting(): Promise<IndexDatabase | undefined> {
    const path = await searchIndexPath();
    if (statSync(path, { throwIfNoEntry: false }) === undefined) return undefined;
    makeCacheDirectory(ports, dirname(path));
    const database = (await sqlEngine()).open(path);
    try {
      if (isCurrent(database)) return new IndexDatabase(path, database);
    } catch (error) {
      database.close();
      throw error;
    }
    database.close();
    return undefined;
  }

  /** For the one that writes. An incomplete database is replaced. */
  static async create(): Promise<IndexDatabase> {
    const existing = await IndexDatabase.openExisting().catch((error: unknown) => {
      if (!isSqlError(error) || isBusy(error)) throw error;
    });
    if (existing !== undefined) return existing;
    removeUnused();
    const path = await searchIndexPath();
    makeCacheDirectory(ports, dirname(path));
    removeDatabase(path);
    // SQLite would make it readable for others, and its other files get the mode of this one.
    closeSync(openSync(path, "wx", 0o600));
    const database = (await sqlEngine()).open(path);
    database.exec(schema);
    return new IndexDatabase(path, database);
  }

  close(): void {
    this.#database.close();
  }

  /** Writes of which all or none are kept. */
  write<Result>(run: () => Result): Result {
    return this.#transaction("BEGIN IMMEDIATE", run);
  }

  /** Reads of one state. */
  read<Result>(run: () => Result): Result {
    return this.#transaction("BEGIN", run);
  }

  #transaction<Result>(begin: string, run: () => Result): Result {
    this.#database.exec(begin);
    try {
      const result = run();
      this.#database.exec("COMMIT");
      return result;
    } catch (error) {
      // SQLite has ended it itself after some errors.
      try {
        this.#database.exec("ROLLBACK");
      } catch {}
      throw error;
    }
  }

  files(): IndexedFile[] {
    return Array.from(this.#rows("SELECT * FROM file"), fileOf);
  }

  vocabulary(): Vocabulary {
    return Array.from(this.#rows("SELECT words FROM vocabulary"), ({ words }) =>
      words instanceof Uint8Array ? Buffer.from(words).toString("latin1") : "",
    );
  }

  /** The numbers of lines that satisfy an expression, by the ids of their files. */
  linesWith(expression: string): ReadonlyMap<number, readonly number[]> {
    const found = new Map<number, number[]>();
    const sql = "SELECT rowid FROM text WHERE text MATCH ? ORDER BY rowid";
    for (const row of this.#rows(sql, expression)) {
      const id = numberAt(row, "rowid");
      const fileId = Math.floor(id / linesOfFileMax);
      const lines = found.get(fileId);
      if (lines === undefined) found.set(fileId, [id % linesOfFileMax]);
      else lines.push(id % linesOfFileMax);
    }
    return found;
  }

  /** The positions of lines; fewer if some were removed in the meantime. */
  placesOf(fileId: number, lines: readonly number[]): readonly IndexedLine[] {
    const statement = this.#prepared("SELECT at, bytes FROM line WHERE id = ?");
    return this.read(() =>
      lines.flatMap((number) =>
        Array.from(statement.rows(fileId * linesOfFileMax + number), (row) => ({
          number,
          at: numberAt(row, "at"),
          bytes: numberAt(row, "bytes"),
        })),
      ),
    );
  }

  /** How many lines and words it has. */
  counts(): { readonly lines: number; readonly words: number } {
    const [lines] = [...this.#rows("SELECT count(*) AS n FROM line")];
    const words = this.vocabulary().reduce((sum, piece) => sum + piece.split("\n").length - 2, 0);
    return { lines: lines === undefined ? 0 : numberAt(lines, "n"), words };
  }

  /** Throws unless the database is sound. Reads all of it. */
  check(): void {
    for (const row of this.#rows("PRAGMA integrity_check")) {
      const said = String(Object.values(row)[0]);
      if (said !== "ok") throw new SqlDamage(said);
    }
    this.#database.exec("INSERT INTO text(text) VALUES ('integrity-check')");
  }

  addFile(id: number, path: string): void {
    this.#run("INSERT INTO file (id, path, cursor, lines) VALUES (?, ?, 0, 0)", id, path);
  }

  setFile(file: IndexedFile): void {
    const { identity = null, size, mtimeMs, ctimeMs, cursor, lines, digest } = file;
    const { agent = null, earlier = null, before, sides = null } = file;
    const stamp = [identity, size, mtimeMs, ctimeMs];
    const values = [cursor, lines, digest, agent, earlier, before, sides];
    this.#run(
      `UPDATE file SET identity = ?, size = ?, mtime = ?, ctime = ?, cursor = ?, lines = ?,
        digest = ?, agent = ?, earlier = ?, before = ?, sides = ? WHERE id = ?`,
      ...stamp,
      ...values,
      file.id,
    );
  }

  /** The names that a line gives its session. */
  addNames(fileId: number, { number }: IndexedLine, names: readonly string[]): void {
    const id = fileId * linesOfFileMax + number;
    this.#run("INSERT INTO name VALUES (?, ?)", id, JSON.stringify(names));
  }

  /** Those of a line, of which it need not be known that it has any. */
  namesOf(fileId: number, line: number): readonly string[] {
    const sql = "SELECT names FROM name WHERE id = ?";
    const [row] = [...this.#rows(sql, fileId * linesOfFileMax + line)];
    // Decoding boundary: as they were added.
    return row === undefined ? [] : (JSON.parse(textAt(row, "names")) as readonly string[]);
  }

  /** @param words With spaces between. */
  addLine(fileId: number, { number, at, bytes }: IndexedLine, words: string): void {
    const id = fileId * linesOfFileMax + number;
    this.#run("INSERT INTO line VALUES (?, ?, ?)", id, at, bytes);
    this.#run("INSERT INTO text (rowid, words) VALUES (?, ?)", id, words);
  }

  removeFile(fileId: number): void {
    this.removeLines(fileId, 0);
    this.#run("DELETE FROM file WHERE id = ?", fileId);
  }

  /** @param from The number of the first one. */
  removeLines(fileId: number, from: number): void {
    const [first, end] = [fileId * linesOfFileMax + from, (fileId + 1) * linesOfFileMax];
    const lines = "SELECT id FROM line WHERE id >= ? AND id < ?";
    this.#run(`DELETE FROM text WHERE rowid IN (${lines})`, first, end);
    this.#run("DELETE FROM line WHERE id >= ? AND id < ?", first, end);
    this.#run("DELETE FROM name WHERE id >= ? AND id < ?", first, end);
  }

  /** Words may be there already. */
  addWords(words: ReadonlySet<string>): void {
    const added = [...words].filter(isOfVocabulary);
    if (added.length === 0) return;
    const [pieces] = [...this.#rows("SELECT count(*) AS n FROM vocabulary")];
    let all = added;
    if (pieces !== undefined && numberAt(pieces, "n") >= vocabularyPiecesMax) {
      const known = this.vocabulary().flatMap((piece) => piece.split("\n"));
      all = [...new Set([...known.filter(Boolean), ...added])];
      this.#run("DELETE FROM vocabulary");
    }
    const piece = Buffer.from(`\n${all.join("\n")}\n`, "latin1");
    this.#run("INSERT INTO vocabulary VALUES (?)", piece);
  }

  readonly #statements = new Map<string, ReturnType<SqlDatabase["prepare"]>>();

  #prepared(sql: string): ReturnType<SqlDatabase["prepare"]> {
    const statement = this.#statements.get(sql) ?? this.#database.prepare(sql);
    this.#statements.set(sql, statement);
    return statement;
  }

  #run(sql: string, ...values: (string | number | null | Uint8Array)[]): void {
    this.#prepared(sql).run(...values);
  }

  #rows(sql: string, ...values: (string | number)[]): Iterable<SqlRow> {
    return this.#prepared(sql).rows(...values);
  }
}

/** The result of SQLite's own check. */
class SqlDamage extends Error {
  readonly code: string = "ERR_SQLITE_ERROR";
}

/** They are put together once there are as many. */
const vocabularyPiecesMax = 64;

const schema = `
  PRAGMA page_size = 8192;
  CREATE TABLE file (id INTEGER PRIMARY KEY, path TEXT NOT NULL UNIQUE,
    identity TEXT, size INTEGER, mtime REAL, ctime REAL, cursor INTEGER, lines INTEGER,
    agent TEXT, earlier TEXT, before INTEGER, sides TEXT, digest TEXT);
  CREATE TABLE line (id INTEGER PRIMARY KEY, at INTEGER, bytes INTEGER);
  CREATE TABLE name (id INTEGER PRIMARY KEY, names TEXT);
  CREATE TABLE vocabulary (words BLOB);
  CREATE VIRTUAL TABLE text USING fts5
    (words, content='', contentless_delete=1, detail=none, tokenize='ascii');
  PRAGMA user_version = ${version};
`;

/** Of a database, and the files that SQLite has next to it. */
export function removeDatabase(path: string): void {
  for (const end of ["", "-journal", "-wal", "-shm", ".lock"]) {
    rmSync(path + end, { recursive: true, force: true });
  }
}

function isCurrent(database: SqlDatabase): boolean {
  const [row] = [...database.prepare("PRAGMA user_version").rows()];
  return row?.["user_version"] === version;
}

function fileOf(row: SqlRow): IndexedFile {
  return {
    id: numberAt(row, "id"),
    path: textAt(row, "path"),
    agent: textOrNone(row, "agent"),
    earlier: textOrNone(row, "earlier"),
    before: numberAt(row, "before"),
    sides: textOrNone(row, "sides"),
    identity: textOrNone(row, "identity"),
    size: numberAt(row, "size"),
    mtimeMs: numberAt(row, "mtime"),
    ctimeMs: numberAt(row, "ctime"),
    cursor: numberAt(row, "cursor"),
    lines: numberAt(row, "lines"),
    digest: textAt(row, "digest"),
  };
}

// Damage shows as a difference from the written data.

function numberAt(row: SqlRow, name: string): number {
  const value = row[name];
  return typeof value === "number" ? value : 0;
}

function textAt(row: SqlRow, name: string): string {
  return textOrNone(row, name) ?? "";
}

function textOrNone(row: SqlRow, name: string): string | undefined {
  const value = row[name];
  return typeof value === "string" ? value : undefined;
}
