/**
 * SQLite: that of Node where it has it, else as WebAssembly. They keep locks of different kinds, so
 * a file is for one of them. Loaded when the first database is opened.
 */
import { rmSync, statSync } from "node:fs";
import { quietly, waitBlocking } from "@branchlog/core/files";

export type SqlValue = string | number | null | Uint8Array;
export type SqlRow = Readonly<Record<string, unknown>>;

/** Synchronous; methods throw {@link isSqlError | errors of SQLite}. */
export interface SqlDatabase {
  exec(sql: string): void;
  prepare(sql: string): SqlStatement;
  close(): void;
}

export interface SqlStatement {
  run(...values: SqlValue[]): void;
  /** All of them have to be taken. */
  rows(...values: SqlValue[]): Iterable<SqlRow>;
}

export interface SqlEngine {
  /** In names of files. */
  readonly name: "native" | "wasm";
  /** A missing file is created. */
  open(path: string): SqlDatabase;
}

let loaded: Promise<SqlEngine> | undefined;

/** @throws If none can be loaded. */
export function sqlEngine(): Promise<SqlEngine> {
  loaded ??= load();
  return loaded;
}

export function isSqlError(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return error.name === "SQLite3Error" || ("code" in error && error.code === "ERR_SQLITE_ERROR");
}

/** How long a statement waits for that of another process. */
const busyMs = 500;

/** What is used of `node:sqlite`, whose types come with later versions of Node. */
interface NodeSqlite {
  readonly DatabaseSync: new (path: string) => {
    exec(sql: string): void;
    prepare(sql: string): {
      run(...values: SqlValue[]): unknown;
      iterate(...values: SqlValue[]): Iterable<SqlRow>;
    };
    close(): void;
  };
}

async function load(): Promise<SqlEngine> {
  // Decoding boundary: undefined where Node has none, or only behind a flag.
  const native = withoutWarning(() => process.getBuiltinModule("node:sqlite")) as unknown;
  return native === undefined ? wasmEngine() : nativeEngine(native as NodeSqlite);
}

/** Node warns of an experiment, about which users can do nothing. */
function withoutWarning<Result>(run: () => Result): Result {
  const emitWarning = process.emitWarning.bind(process);
  process.emitWarning = () => undefined;
  try {
    return run();
  } finally {
    process.emitWarning = emitWarning;
  }
}

function nativeEngine({ DatabaseSync }: NodeSqlite): SqlEngine {
  const open = (path: string): SqlDatabase => {
    const database = new DatabaseSync(path);
    try {
      database.exec(`PRAGMA busy_timeout = ${busyMs}`);
      // Readers continue while a batch is written.
      database.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL");
    } catch (error) {
      quietly(() => database.close());
      throw error;
    }
    return {
      exec: (sql) => database.exec(sql),
      prepare: (sql) => {
        const statement = database.prepare(sql);
        return {
          run: (...values) => void statement.run(...values),
          rows: (...values) => statement.iterate(...values),
        };
      },
      close: () => database.close(),
    };
  };
  return { name: "native", open };
}

/** All rows of a query. */
export type QueryRows = (sql: string, ...values: SqlValue[]) => readonly SqlRow[];

/**
 * Reads a database that has no other connection. A path may be a link: what belongs to the database
 * is next to the link.
 */
export type SoleReader = <Result>(path: string, read: (query: QueryRows) => Result) => Result;

export async function soleReader(): Promise<SoleReader> {
  const { default: sqlite } = await import("node-sqlite3-wasm");
  return (path, read) => {
    const database = new sqlite.Database(path, { readOnly: true });
    try {
      // Without it, a write-ahead log needs memory that is shared.
      database.exec("PRAGMA locking_mode = EXCLUSIVE");
      // Each page is a call of the system: none is read twice for a list.
      database.exec("PRAGMA cache_size = -65536");
      return read((sql, ...values) => database.all(sql, values));
    } finally {
      database.close();
    }
  };
}

async function wasmEngine(): Promise<SqlEngine> {
  const { default: sqlite } = await import("node-sqlite3-wasm");
  const open = (path: string): SqlDatabase => {
    const exclusion = new Exclusion(path);
    const database = new sqlite.Database(path);
    const statements: { finalize(): void }[] = [];
    return {
      exec: (sql) => exclusion.whenFree(() => database.exec(sql)),
      prepare: (sql) => {
        const statement = exclusion.whenFree(() => database.prepare(sql));
        statements.push(statement);
        return {
          run: (...values) => void exclusion.whenFree(() => statement.run(values)),
          rows: (...values) => exclusion.whenFree(() => rowsOf(() => statement.iterate(values))),
        };
      },
      close: () => {
        // It also throws what the statement threw last.
        for (const statement of statements) quietly(() => statement.finalize());
        database.close();
      },
    };
  };
  return { name: "wasm", open };
}

/** A busy database is known with the first row. */
function rowsOf<Row extends SqlRow>(iterate: () => Iterator<Row>): Iterable<Row> {
  const rows = iterate();
  const first = rows.next();
  return {
    *[Symbol.iterator]() {
      for (let row = first; row.done !== true; row = rows.next()) yield row.value;
    },
  };
}

const pauseMs = 5;
/** Longer than any transaction takes. */
const abandonedMs = 30_000;

/**
 * The lock of the WebAssembly build is a directory, which one connection has at a time: it waits
 * for none, and leaves it behind when its process is killed.
 */
class Exclusion {
  readonly #path: string;

  constructor(path: string) {
    this.#path = `${path}.lock`;
  }

  whenFree<Result>(run: () => Result): Result {
    const untilMs = performance.now() + busyMs;
    for (;;) {
      try {
        return run();
      } catch (error) {
        if (!isBusy(error) || performance.now() > untilMs) throw error;
        this.#removeAbandoned();
        waitBlocking({ state: pauses, at: 0, value: 0, ms: pauseMs });
      }
    }
  }

  #removeAbandoned(): void {
    quietly(() => {
      if (Date.now() - statSync(this.#path).mtimeMs < abandonedMs) return;
      rmSync(this.#path, { recursive: true });
    });
  }
}

/** The second is what a statement says of its last try, when it is to be run again. */
const busyMessages = ["database is locked", "Could not reset statement"];

/** Another connection has the database. */
export function isBusy(error: unknown): boolean {
  return error instanceof Error && busyMessages.some((text) => error.message.includes(text));
}

const pauses = new Int32Array(new SharedArrayBuffer(4));
