/** The one door to PostgreSQL's library: statements on a pool of connections, and one listener. */
import pg from "pg";
import { storeError } from "./store-errors.ts";

/** A pool of `pg`, of the program's own. */
export type PostgresPool = pg.Pool;

/** What a program knows of its server. */
export interface ConnectionOptions {
  /** How long a statement may take on a pool of its own. */
  readonly answerWaitMs: number;
  /** Whether a connection stays with its client, so that statements can be prepared. */
  readonly areOwn: boolean;
}

export interface Connections {
  /** Without secrets. */
  readonly shown: string;
  /** One statement. Rejects with what `storeError` makes, and the signal's reason. */
  query<Row extends object>(
    text: string,
    values: readonly unknown[],
    signal?: AbortSignal,
  ): Promise<readonly Row[]>;
  /**
   * On a connection of its own. Rejects as `query`.
   * @param idleMsMax So long may the client be silent before the server ends it. Default: for ever.
   */
  begin(idleMsMax?: number): Promise<Transaction>;
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
  commit(): Promise<void>;
  /** Does nothing once it was committed. */
  rollback(): Promise<void>;
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
  const isOwn = typeof target === "string";
  const pool = isOwn ? ownPool(target, answerWaitMs) : target;
  const fails = (error: unknown): never => {
    throw storeError(error, shown);
  };
  const statementOf = (text: string, values: readonly unknown[]): pg.QueryConfig => {
    // Without parameters, a text may hold several statements.
    const isPrepared = areOwn && values.length > 0;
    return { text, values: [...values], ...(isPrepared && { name: nameOf(text) }) };
  };
  return {
    shown,
    query<Row extends object>(
      text: string,
      values: readonly unknown[],
      signal?: AbortSignal,
    ): Promise<readonly Row[]> {
      const answer = pool.query<Row>(statementOf(text, values)).then(({ rows }) => rows, fails);
      return signal === undefined ? answer : unlessAborted(answer, signal);
    },
    async begin(idleMsMax = 0) {
      const client = await pool.connect().catch(fails);
      let isOver = false;
      const end = async (text: string): Promise<void> => {
        if (isOver) return;
        isOver = true;
        let lost: Error | undefined;
        try {
          await client.query(text);
        } catch (error) {
          lost = new Error("its transaction did not end", { cause: error });
          fails(error);
        } finally {
          client.off("error", ignore);
          client.release(lost);
        }
      };
      // The next statement reports it.
      client.on("error", ignore);
      const transaction: Transaction = {
        query: async <Row extends object>(text: string, values: readonly unknown[]) => {
          const { rows } = await client.query<Row>(statementOf(text, values)).catch(fails);
          return rows;
        },
        commit: () => end("COMMIT"),
        // Of a lost connection the server rolls back by itself.
        rollback: () => end("ROLLBACK").catch(ignore),
      };
      try {
        await client.query(`BEGIN; SET LOCAL idle_in_transaction_session_timeout = ${idleMsMax}`);
      } catch (error) {
        await transaction.rollback();
        throw storeError(error, shown);
      }
      return transaction;
    },
    listen: (listener) => listening(pool.options, listener).catch(fails),
    close: async () => {
      if (isOwn && !pool.ending) await pool.end();
    },
  };
}

const ignore = (): void => undefined;

/** Names of prepared statements, which a server parses once for each connection. */
const statementNames = new Map<string, string>();

function nameOf(text: string): string {
  const name = statementNames.get(text) ?? `branchlog_${statementNames.size}`;
  statementNames.set(text, name);
  return name;
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
async function unlessAborted<T>(answer: Promise<T>, signal: AbortSignal): Promise<T> {
  signal.throwIfAborted();
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
