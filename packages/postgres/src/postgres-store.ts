/** Logs in a database of PostgreSQL. */
import { readAddress } from "@branchlog/core/addresses";
import { BranchlogError } from "@branchlog/core";
import type {
  IndexedPosition,
  ListingStore,
  LogPart,
  LogRange,
  StoredLog,
  StoredPosition,
} from "@branchlog/core/types";
import {
  createStreamedLog,
  engineSettings,
  requireOneOf,
  requireOptions,
  requireStoredName,
  storedLogError,
} from "@branchlog/core/files";
import type { OptionNames } from "@branchlog/streaming";
import { connectionsOf, unlessAborted } from "./connections.ts";
import type { Connections, PostgresPool, QueryOptions, Transaction } from "./connections.ts";
import { GroupedAppends } from "./grouped-appends.ts";
import { LogHints } from "./log-hints.ts";
import { applyMigrations, requireVersion } from "./migration.ts";
import { PostgresLog, columnsOf, readBytes } from "./postgres-log.ts";
import type { OpenRow } from "./postgres-log.ts";
import type { LogInDatabase } from "./postgres-index.ts";
import { inSchema } from "./schema.ts";
import { defaultSchema, shownStore, storeAddress } from "./store-address.ts";
import type { StoreAddress } from "./store-address.ts";
import { partsInWorker } from "./shared-worker.ts";
import { isTaken } from "./store-errors.ts";
import { batchesOf } from "./stored-batches.ts";
import { storedSession } from "./stored-session.ts";
import type { ListedRow, StoredSessionFacts } from "./stored-session.ts";

/** Options of {@link postgresStore}. */
export interface PostgresStoreOptions {
  /** The schema that holds the store. Default: that of the URL, else `branchlog`. */
  readonly schema?: string;
  /**
   * `disk`: an append is acknowledged once the server has it on its disk, and as its
   * `synchronous_commit` says on its standbys. `os`: a crash of the server may lose the last
   * moments. Default `disk`.
   */
  readonly durability?: "disk" | "os";
  /** How often watched logs are polled, in ms, whether notices come or not. Default 1000. */
  readonly pollMs?: number;
  /**
   * Whether to `LISTEN` and to prepare statements, for which connections that are shared, as by
   * PgBouncer, are no use. Default: `listen` of the URL, else true.
   */
  readonly listen?: boolean;
  /**
   * How long the server may take to answer, if the store was given as a URL. Default:
   * `answer_wait` of the URL, else 15,000.
   */
  readonly answerWaitMs?: number;
  /**
   * How long appends try again while the server does not answer, unless a session says otherwise.
   * Default: `lock_wait` of the URL, else that of sessions.
   */
  readonly lockWaitMs?: number;
}

/** Options of {@link PostgresStore.pull}. */
export interface PullOptions {
  readonly signal?: AbortSignal | undefined;
  /** Called with all of the bytes, in order, and how many there are. */
  readonly onBytes?: ((bytes: Buffer, sizeBytes: number) => void) | undefined;
}

const optionNames: OptionNames<PostgresStoreOptions> = {
  schema: true,
  durability: true,
  pollMs: true,
  listen: true,
  answerWaitMs: true,
  lockWaitMs: true,
};

/**
 * The store of a database, which is connected to at the first call.
 * @param target `postgres://user@host:port/database`, with `?schema=` for another schema than
 * `branchlog` and other options after it, see docs/postgres.md; or a pool of `pg` that the program
 * ends itself.
 * @throws BranchlogError `ERR_INVALID_ARGUMENT`.
 * @example
 * const store = postgresStore("postgres://agent@db.example/team");
 * const session = await createSession({ store, cwd: process.cwd() });
 */
export function postgresStore(
  target: string | PostgresPool,
  options: PostgresStoreOptions = {},
): PostgresStore {
  return new PostgresStore(target, requireOptions(options, optionNames));
}

const defaultPollMs = 1_000;
const defaultAnswerWaitMs = 15_000;
const listedAtOnce = 200;
/** Few enough that the first hits come soon, and that no statement takes long. */
const searchedAtOnce = 500;
const expiredAtOnce = 100;

/** Made by {@link postgresStore}. Its methods reject with `ERR_STORE_*`. */
export class PostgresStore implements ListingStore {
  /** Of the store, without secrets. */
  readonly address: string;
  readonly #schema: string;
  readonly #connections: Connections;
  readonly #hints: LogHints;
  readonly #appends: GroupedAppends;
  readonly #synced: boolean;
  readonly #lockWaitMs: number | undefined;
  /** How another thread opens it; undefined: it cannot. */
  readonly #target: string | undefined;
  #checked: Promise<void> | undefined;

  /** @internal */
  constructor(target: string | PostgresPool, options: PostgresStoreOptions) {
    const { durability = "disk", pollMs = defaultPollMs } = options;
    const address: Partial<StoreAddress> = typeof target === "string" ? storeAddress(target) : {};
    const listen = options.listen ?? address.listen ?? true;
    const answerWaitMs = options.answerWaitMs ?? address.answerWaitMs ?? defaultAnswerWaitMs;
    this.#schema = requireSchema(options.schema ?? address.schema ?? defaultSchema);
    this.#lockWaitMs = options.lockWaitMs ?? address.lockWaitMs;
    this.#synced = requireOneOf("durability", durability, ["disk", "os"]) === "disk";
    const url = typeof target === "string" ? readAddress(target).url : urlOf(target);
    this.address = shownStore(url, this.#schema);
    const given = typeof target === "string" ? (address.connection ?? "") : target;
    const own = typeof target === "string" ? url : addressOfPool(target);
    this.#target = own && inOtherThread(own, this.#schema, listen);
    this.#connections = connectionsOf(given, this.address, { answerWaitMs, areOwn: listen });
    this.#appends = new GroupedAppends(
      (text, values, how) => this.#connections.query(inSchema(text, this.#schema), values, how),
      this.#synced,
    );
    this.#hints = new LogHints(this.#connections, { schema: this.#schema, pollMs });
  }

  /**
   * Makes the database a store, or updates its schema; only its owner may. Does nothing where the
   * version is this one. Of several processes, one does it. Returns the version before and now.
   */
  migrate(): Promise<{ readonly from: number; readonly to: number }> {
    return applyMigrations(this.#connections, this.#schema);
  }

  async open(name: string, signal?: AbortSignal): Promise<StoredLog> {
    const rows = await this.#query<OpenRow>(
      "SELECT * FROM SCHEMA.open_log($1, $2)",
      [requireStoredName(name), readBytes],
      { signal },
    );
    const [row] = rows;
    if (row === undefined) throw storedLogError("missing", name);
    return this.#log(name, row.id, rows);
  }

  /** In one transaction. */
  async create(name: string, bytes: AsyncIterable<Buffer> | Iterable<Buffer>): Promise<StoredLog> {
    requireStoredName(name);
    await this.#check();
    const transaction = await this.#connections.begin();
    try {
      const log = await this.#created(transaction, name, bytes);
      await transaction.commit();
      return log;
    } catch (error) {
      const cause = error instanceof BranchlogError ? error.cause : undefined;
      throw isTaken(cause) ? storedLogError("exists", name, cause) : error;
    } finally {
      await transaction.rollback();
    }
  }

  /**
   * In one transaction: if the log ends at `expected`, another one with these bytes takes its
   * place, or without bytes none. False: nothing changed, since it ends elsewhere, or is gone.
   */
  async replace(
    name: string,
    { generation, at }: StoredPosition,
    bytes: Buffer | undefined,
  ): Promise<boolean> {
    const transaction = await this.#connections.begin();
    try {
      const [row] = await transaction.query<{ readonly ends: string | null }>(
        inSchema("SELECT ends FROM SCHEMA.lease_log($1, $2, NULL)", this.#schema),
        [generation, at],
      );
      if (Number(row?.ends ?? -1) !== at) return false;
      await transaction.query(inSchema("SELECT SCHEMA.remove_log($1)", this.#schema), [
        requireStoredName(name),
      ]);
      if (bytes !== undefined) await this.#created(transaction, name, [bytes]);
      await transaction.commit();
      return true;
    } finally {
      await transaction.rollback();
    }
  }

  async #created(
    transaction: Transaction,
    name: string,
    bytes: AsyncIterable<Buffer> | Iterable<Buffer>,
  ): Promise<PostgresLog> {
    const [row] = await transaction.query<{ readonly id: string }>(
      inSchema("SELECT SCHEMA.create_log($1) AS id", this.#schema),
      [name],
    );
    if (row === undefined) throw new Error("an insertion without an id");
    const log = this.#log(name, row.id);
    let at = 0;
    for await (const batch of batchesOf(bytes, log.address)) {
      const { text, raw } = columnsOf(batch);
      await transaction.query(
        inSchema("SELECT SCHEMA.append($1, $2, NULL, $3, $4, $5)", this.#schema),
        [row.id, at, text, raw, this.#synced],
      );
      at += batch.length;
    }
    return log;
  }

  async *names(signal?: AbortSignal): AsyncGenerator<string, void, undefined> {
    for await (const { name } of this.list(signal)) yield name;
  }

  /** The sessions by name, as their first lines and the database tell. */
  list(signal?: AbortSignal): AsyncGenerator<StoredSessionFacts, void, undefined> {
    return this.#listed(false, signal);
  }

  /**
   * As {@link PostgresStore.list}, in the order of their last changes, the latest first. One that
   * is appended to meanwhile may be missing.
   */
  latest(signal?: AbortSignal): AsyncGenerator<StoredSessionFacts, void, undefined> {
    return this.#listed(true, signal);
  }

  /** Some at a time, after the last one before. */
  async *#listed(
    isLatest: boolean,
    signal: AbortSignal | undefined,
  ): AsyncGenerator<StoredSessionFacts, void, undefined> {
    let last: ListedRow | undefined;
    for (;;) {
      const rows: readonly ListedRow[] = await this.#query<ListedRow>(
        "SELECT * FROM SCHEMA.list_logs($1, $2, $3, $4)",
        [last?.name ?? "", last?.changed ?? null, isLatest, listedAtOnce],
        { signal },
      );
      for (const row of rows) yield storedSession(row, this.#addressOf(row.name));
      last = rows.at(-1);
      if (rows.length < listedAtOnce) return;
    }
  }

  /** The database says which logs may hold a text; in the order of their names. */
  async *logsWith(
    texts: readonly string[] | undefined,
    signal?: AbortSignal,
  ): AsyncGenerator<StoredLog, void, undefined> {
    for (let after: string | undefined = ""; after !== undefined;) {
      const rows: readonly SearchedRow[] = await this.#query<SearchedRow>(
        "SELECT name, is_hit FROM SCHEMA.search_logs($1, $2, $3)",
        [texts ?? null, after, searchedAtOnce],
        { signal },
      );
      for (const { name } of rows.filter(({ is_hit: isHit }) => isHit)) {
        const log = await this.open(name, signal).catch(unlessRemoved);
        if (log !== undefined) yield log;
      }
      after = rows.at(-1)?.name;
    }
  }

  /**
   * Writes the bytes of a log as a new file, whole or not at all. Rejects with `ERR_LOG_MISSING`,
   * `ERR_LOG_EXISTS`, `ERR_CREATE_FAILED`.
   * @param path Absolute.
   */
  async pull(name: string, path: string, options: PullOptions = {}): Promise<void> {
    const { signal, onBytes } = requireOptions(options, { signal: true, onBytes: true });
    const log = await this.open(name, signal);
    const end = await log.end(signal);
    if (end === undefined) throw storedLogError("missing", name);
    const pieces = async function* (): AsyncGenerator<Buffer, void, undefined> {
      for await (const piece of log.read({ ...end, at: 0 }, signal)) {
        onBytes?.(piece, end.at);
        yield piece;
      }
    };
    await createStreamedLog(engineSettings({}).ports, path, pieces());
  }

  async remove(name: string): Promise<void> {
    const [row] = await this.#query<{ readonly done: boolean }>(
      "SELECT SCHEMA.remove_log($1) AS done",
      [requireStoredName(name)],
    );
    if (row?.done !== true) throw storedLogError("missing", name);
  }

  /** When `removeExpired` may remove a log; null: never. Rejects with `ERR_LOG_MISSING`. */
  async setExpiry(name: string, at: Date | null): Promise<void> {
    const [row] = await this.#query<{ readonly done: boolean }>(
      "SELECT SCHEMA.set_expiry($1, $2) AS done",
      [requireStoredName(name), at],
    );
    if (row?.done !== true) throw storedLogError("missing", name);
  }

  /** Removes the logs that have expired, some in each transaction, and returns their names. */
  async removeExpired(signal?: AbortSignal): Promise<readonly string[]> {
    const removed: string[] = [];
    for (;;) {
      const rows = await this.#query<NamedRow>(
        "SELECT expire AS name FROM SCHEMA.expire($1)",
        [expiredAtOnce],
        { signal },
      );
      removed.push(...rows.map(({ name }) => name));
      if (rows.length < expiredAtOnce) return removed;
    }
  }

  /** Ends its connections, so that its sessions are over; a pool that it was given stays. */
  async close(): Promise<void> {
    this.#hints.close();
    await this.#connections.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  #log(name: string, id: string, opened: readonly OpenRow[] = []): PostgresLog {
    return new PostgresLog(name, id, opened, {
      connections: this.#connections,
      schema: this.#schema,
      synced: this.#synced,
      append: async (call, signal) => {
        signal?.throwIfAborted();
        return unlessAborted(this.#appends.append(call), signal);
      },
      onAppended: (appended) => this.#hints.appended(appended),
      watch: (watched, onHint) => this.#hints.watch(watched, onHint),
      lockWaitMs: this.#lockWaitMs,
      readPartSync: this.#target === undefined ? undefined : partsInWorker(this.#target),
    });
  }

  /** @internal For the thread that waits: without opening the log. */
  readPart({ name, id }: LogInDatabase, known: IndexedPosition, range: LogRange): Promise<LogPart> {
    return this.#log(name, id).readPart(range, known);
  }

  #addressOf(name: string): string {
    return `${this.address}#${encodeURIComponent(name)}`;
  }

  async #query<Row extends object>(
    text: string,
    values: readonly unknown[],
    options?: QueryOptions,
  ): Promise<readonly Row[]> {
    await this.#check();
    return this.#connections.query<Row>(inSchema(text, this.#schema), values, options);
  }

  /** Once, unless it fails. */
  #check(): Promise<void> {
    this.#checked ??= requireVersion(this.#connections, this.#schema).catch((error: unknown) => {
      this.#checked = undefined;
      throw error;
    });
    return this.#checked;
  }
}

/** Migrations quote functions by dollars. */
function requireSchema(schema: string): string {
  if (schema !== "" && !schema.includes("$")) return schema;
  const message = "The name of a schema must not be empty or contain $.";
  throw new BranchlogError("ERR_INVALID_ARGUMENT", message);
}

interface NamedRow {
  readonly name: string;
}

interface SearchedRow extends NamedRow {
  readonly is_hit: boolean;
}

function unlessRemoved(error: unknown): undefined {
  if (error instanceof BranchlogError && error.code === "ERR_LOG_MISSING") return undefined;
  throw error;
}

/** Undefined if it connects in a way that an address cannot say, or that its options do not. */
function addressOfPool(pool: PostgresPool): URL | undefined {
  const { options } = pool;
  const { connectionString = "", host, database, user, password, ssl, stream } = options;
  const isPlain = ssl === undefined && stream === undefined && options.Client === undefined;
  if (!isPlain) return undefined;
  if (URL.canParse(connectionString)) {
    return password === undefined ? new URL(connectionString) : undefined;
  }
  const isSaid = host !== undefined && database !== undefined && user !== undefined;
  // Missing parts can come from the environment; an address has no other form for these hosts.
  if (!isSaid || options.port === undefined || host.includes(":")) return undefined;
  if (password !== undefined && typeof password !== "string") return undefined;
  const url = urlOf(pool);
  if (host.startsWith("/")) url.searchParams.set("host", host);
  if (password !== undefined) url.password = encodeURIComponent(password);
  return url;
}

function inOtherThread(url: URL, schema: string, listen: boolean): string {
  const other = new URL(url.href);
  other.hash = "";
  other.searchParams.set("schema", schema);
  other.searchParams.set("listen", String(listen));
  return other.href;
}

/** Of a pool as far as its options tell; else PostgreSQL's defaults apply. */
function urlOf({ options }: PostgresPool): URL {
  const { connectionString = "" } = options;
  if (URL.canParse(connectionString)) return new URL(connectionString);
  const { host = "localhost", port = 5432, database = "", user = "" } = options;
  const url = new URL(`postgres://localhost:${port}/${encodeURIComponent(database)}`);
  // A socket has a directory in the place of a host.
  if (!host.startsWith("/")) url.hostname = host;
  url.username = encodeURIComponent(user);
  return url;
}
