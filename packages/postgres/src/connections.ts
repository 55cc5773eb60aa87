/**
 * The only importer of PostgreSQL's library: statements on a pool of connections, and one listener.
 */
import { createHash } from "node:crypto";
import pg from "pg";
import { isAnswered, isStatementLost, noAnswer, storeError } from "./store-errors.ts";

/** A pool of `pg`, of the program's own. */
export type PostgresPool = pg.Pool;

/** Options of a connection to a server. */
export interface ConnectionOptions {
  /** How long a statement may take on a pool of its own. */
  readonly answerWaitMs: number;
  /** False: a pooler shares connections between clients, so that no statement can be prepared. */
  readonly areOwn: boolean;
}

export interface QueryOptions {
  readonly signal?: AbortSignal | undefined;
  /**
   * Whether the caller must know that the statement is done, and on the standbys that its commit
   * waits for: without such an answer, it rejects with `ERR_APPEND_UNCERTAIN`.
   */
  readonly isCommit?: boolean;
}

export interface Connections {
  /** Without secrets. */
  readonly shown: string;
  /** Whether connections stay with their clients; no longer true once a pooler was noticed. */
  readonly areOwn: boolean;
  /** One statement. Rejects with what `storeError` makes, and the signal's reason. */
  query<Row extends object>(
    text: string,
    values: readonly unknown[],
    options?: QueryOptions,
  ): Promise<readonly Row[]>;
  /**
   * On a connection of its own. Rejects as `query`.
   * @param idleMsMax So long may the client be silent before the server ends it. Default:
   * unlimited.
   */
  begin(idleMsMax?: number): Promise<Transaction>;
  /** As `begin`, with a first statement, all in one round trip: a text without parameters. */
  beginWith<Row extends object>(text: string, idleMsMax: number): Promise<BegunTransaction<Row>>;
  /** A connection of its own, with whose end `onEnd` is called once. */
  listen(listener: Listener): Promise<ListeningConnection>;
  /** Ends a pool of its own; one of the program stays. */
  close(): Promise<void>;
}

/** Its methods reject as {@link Connections.query}. */
export interface Transaction {
  readonly query: <Row extends object>(
    text: string,
    values: readonly unknown[],
  ) => Promise<readonly Row[]>;
  /** As a statement with `isCommit`. */
  commit(): Promise<void>;
  /** The same with a last statement, in one round trip: a text without parameters. */
  commitWith<Row extends object>(text: string): Promise<readonly Row[]>;
  /** Does nothing once it was committed. */
  rollback(): Promise<void>;
}

/** With the result of its first statement. */
export interface BegunTransaction<Row> extends Transaction {
  readonly rows: readonly Row[];
}

export interface Listener {
  readonly onNotice: (channel: string, payload: string) => void;
  readonly onEnd: () => void;
}

export interface ListeningConnection {
  listen(channel: string): Promise<void>;
  close(): void;
}

/** @param shown See {@link Connections.shown}. */
export function connectionsOf(
  target: pg.Pool | string,
  shown: string,
  { answerWaitMs, areOwn }: ConnectionOptions,
): Connections {
  return new PooledConnections(target, shown, { answerWaitMs, areOwn });
}

class PooledConnections implements Connections {
  readonly shown: string;
  readonly #pool: pg.Pool;
  readonly #isOwnPool: boolean;
  #areOwn: boolean;

  constructor(target: pg.Pool | string, shown: string, options: ConnectionOptions) {
    this.shown = shown;
    this.#isOwnPool = typeof target === "string";
    this.#pool = typeof target === "string" ? ownPool(target, options.answerWaitMs) : target;
    this.#areOwn = options.areOwn;
  }

  get areOwn(): boolean {
    return this.#areOwn;
  }

  async query<Row extends object>(
    text: string,
    values: readonly unknown[],
    { signal, isCommit = false }: QueryOptions = {},
  ): Promise<readonly Row[]> {
    signal?.throwIfAborted();
    return unlessAborted(this.#query<Row>(text, values, isCommit), signal);
  }

  async #query<Row extends object>(
    text: string,
    values: readonly unknown[],
    isCommit: boolean,
  ): Promise<readonly Row[]> {
    const client = await this.#client();
    const isPrepared = this.#areOwn && values.length > 0;
    let lost: Error | undefined;
    const answer = (prepares: boolean): Promise<readonly Row[]> =>
      this.#answer<Row>(client, statementOf(text, values, prepares), isCommit);
    try {
      return await answer(isPrepared).catch((error: unknown) => {
        if (!isPrepared || !isStatementLost(error)) throw error;
        // Not carried out: another client's connection, or one that lost its statements.
        this.#areOwn = false;
        return answer(false);
      });
    } catch (error) {
      if (!isAnswered(error)) lost = new Error("its statement has no answer", { cause: error });
      throw error;
    } finally {
      giveBack(client, lost);
    }
  }

  async #client(): Promise<pg.PoolClient> {
    try {
      const client = await this.#pool.connect();
      // Its statement reports it.
      client.on("error", ignore);
      return client;
    } catch (error) {
      throw storeError(error, this.shown);
    }
  }

  async #answer<Row extends object>(
    client: pg.PoolClient,
    statement: pg.QueryConfig,
    isCommit: boolean,
  ): Promise<readonly Row[]> {
    const warnings: string[] = [];
    const note = ({ code, message }: { code?: string | undefined; message?: string | undefined }) =>
      code === generalWarning && warnings.push(message ?? "");
    if (isCommit) client.on("notice", note);
    let rows: readonly Row[] = [];
    try {
      const answered = await client.query<Row>(statement);
      // Of several statements in one text the library gives a list, which its types do not say.
      const results: readonly pg.QueryResult<Row>[] = [answered].flat();
      rows = results.find(({ fields }) => fields.length > 0)?.rows ?? rows;
    } catch (error) {
      throw isCommit && !isAnswered(error)
        ? noAnswer(this.shown, error)
        : storeError(error, this.shown);
    } finally {
      client.off("notice", note);
    }
    const [warning] = warnings;
    if (warning !== undefined) throw noAnswer(this.shown, new Error(warning));
    return rows;
  }

  begin(idleMsMax = 0): Promise<Transaction> {
    return this.beginWith("", idleMsMax);
  }

  async beginWith<Row extends object>(
    first: string,
    idleMsMax: number,
  ): Promise<BegunTransaction<Row>> {
    const client = await this.#client();
    let isOver = false;
    const end = async <Last extends object>(
      text: string,
      isCommit: boolean,
    ): Promise<readonly Last[]> => {
      if (isOver) return [];
      isOver = true;
      let lost: Error | undefined;
      try {
        return await this.#answer<Last>(client, { text }, isCommit);
      } catch (error) {
        lost = new Error("its transaction did not end", { cause: error });
        throw error;
      } finally {
        giveBack(client, lost);
      }
    };
    const transaction: Transaction = {
      query: (text, values) => this.#answer(client, statementOf(text, values, false), false),
      commit: async () => void (await end("COMMIT", true)),
      commitWith: (text) => end(`${text}; COMMIT`, true),
      // Of a lost connection the server rolls back by itself.
      rollback: async () => void (await end("ROLLBACK", false).catch(ignore)),
    };
    try {
      const text = `BEGIN; SET LOCAL idle_in_transaction_session_timeout = ${idleMsMax}; ${first}`;
      return { ...transaction, rows: await this.#answer<Row>(client, { text }, false) };
    } catch (error) {
      await transaction.rollback();
      throw error;
    }
  }

  async listen(listener: Listener): Promise<ListeningConnection> {
    try {
      return await listening(this.#pool.options, listener);
    } catch (error) {
      throw storeError(error, this.shown);
    }
  }

  async close(): Promise<void> {
    if (this.#isOwnPool && !this.#pool.ending) await this.#pool.end();
  }
}

/**
 * The server gives it to a commit that stopped waiting for its standbys: it is done here, and may
 * be nowhere else.
 */
const generalWarning = "01000";

const ignore = (): void => undefined;

/** @param lost Why the connection is unusable. */
function giveBack(client: pg.PoolClient, lost: Error | undefined): void {
  client.off("error", ignore);
  client.release(lost);
}

/**
 * Statements that are prepared are parsed once for each connection. Their names depend on their
 * texts: a pooler may give a connection to a client with other statements.
 */
const statementNames = new Map<string, string>();

function statementOf(
  text: string,
  values: readonly unknown[],
  isPrepared: boolean,
): pg.QueryConfig {
  // Without parameters, a text may hold several statements.
  if (!isPrepared) return { text, values: [...values] };
  const name =
    statementNames.get(text) ??
    `branchlog_${createHash("sha256").update(text).digest("hex").slice(0, 24)}`;
  statementNames.set(text, name);
  return { text, values: [...values], name };
}

function ownPool(connectionString: string, answerWaitMs: number): pg.Pool {
  const pool = new pg.Pool({
    connectionString,
    application_name: "branchlog",
    connectionTimeoutMillis: answerWaitMs,
    query_timeout: answerWaitMs,
    keepAlive: true,
    // A program that has nothing else to do may end.
    allowExitOnIdle: true,
  });
  // A connection that is lost while it is idle is replaced by the pool.
  pool.on("error", () => undefined);
  return pool;
}

/** A value as a statement without parameters writes it. */
export function literalOf(value: string | number | boolean | Buffer | null): string {
  if (value === null) return "NULL";
  if (Buffer.isBuffer(value)) return `decode('${value.toString("hex")}', 'hex')`;
  return typeof value === "string" ? pg.escapeLiteral(value) : String(value);
}

async function listening(
  options: pg.PoolOptions,
  listener: Listener,
): Promise<ListeningConnection> {
  // The pool hides its password from copies.
  const { password } = options;
  const client = new pg.Client({ ...options, password, keepAlive: true });
  let isOver = false;
  const end = (): void => {
    if (isOver) return;
    isOver = true;
    void client.end().catch(() => undefined);
    listener.onEnd();
  };
  client.on("error", end);
  client.on("end", end);
  client.on("notification", ({ channel, payload = "" }) => listener.onNotice(channel, payload));
  await client.connect();
  return {
    listen: async (channel) => {
      await client.query(`LISTEN ${client.escapeIdentifier(channel)}`);
    },
    close: () => {
      isOver = true;
      void client.end().catch(() => undefined);
    },
  };
}

/** The statement keeps running: its connection is free only after the answer. */
export async function unlessAborted<T>(
  answer: Promise<T>,
  signal: AbortSignal | undefined,
): Promise<T> {
  if (signal === undefined) return answer;
  let stop: () => void = () => undefined;
  const aborted = new Promise<never>((_resolve, reject) => {
    stop = () => reject(signal.reason as Error);
    signal.addEventListener("abort", stop, { once: true });
  });
  try {
    return await Promise.race([answer, aborted]);
  } finally {
    signal.removeEventListener("abort", stop);
  }
}
