/**
 * Three ways to append to logs in PostgreSQL and to read them: ours, statements on the same
 * library, and an event store. The server is that of `pnpm bench --stores`, at once or delayed.
 */
import { env } from "node:process";
import { createSession, openSession, type Session } from "@branchlog/core";
import { type PostgresPool, type PostgresStore, postgresStore } from "@branchlog/postgres";
import type { SubjectFacts } from "./bench-case.ts";
import { peerModule } from "./peers.ts";
import { idOf, smallMessage } from "./plain-session.ts";

export interface StoreWay {
  create(log: string): Promise<void>;
  /** All or none, after what is there; the messages from number `from` on. */
  append(log: string, from: number, count: number): Promise<unknown>;
  /** Reads the log again; the number of its entries. */
  read(log: string): Promise<number>;
  /** Tells subscribers; ours does so by itself. */
  notify?(log: string): Promise<unknown>;
  close(): Promise<void>;
}

export type WayName = "ours" | "statements" | "emmett";

export const wayNames: readonly WayName[] = ["ours", "statements", "emmett"];

export const wayFacts: Readonly<Record<WayName, SubjectFacts>> = {
  ours: { name: "Branchlog", role: "ours", needs: "stores" },
  statements: { name: "INSERT and SELECT, with pg", role: "baseline", needs: "stores" },
  emmett: { name: "emmett-postgresql 0.42.0", role: "peer", needs: "stores" },
};

export const nearVariable = "BRANCHLOG_BENCH_STORE";
export const farVariable = "BRANCHLOG_BENCH_STORE_FAR";

/** Set by the benchmark for its processes. */
export function storeUrl(isFar: boolean): string {
  const url = env[isFar ? farVariable : nearVariable];
  if (url === undefined) throw new Error("cases of stores run with --stores URL only");
  return url;
}

const connectionsDefault = 10;

export interface WayOptions {
  /** Whether through the delay. Default false. */
  readonly isFar?: boolean;
  /** Of ours and of statements, at most. Default 10. */
  readonly connections?: number | undefined;
}

export async function openWay(
  name: WayName,
  { isFar = false, connections = connectionsDefault }: WayOptions = {},
): Promise<StoreWay> {
  const url = storeUrl(isFar);
  switch (name) {
    case "ours":
      return new OurWay(await openPool(url, connections));
    case "statements":
      return new StatementsWay(await openPool(url, connections));
    case "emmett":
      return openEmmett(url);
  }
}

interface PoolModule {
  readonly default: {
    readonly Pool: new (options: { connectionString: string; max: number }) => PostgresPool;
  };
}

export async function openPool(connectionString: string, max: number): Promise<PostgresPool> {
  // Decoding boundary: the module of the version in peers/stores.
  const { default: pg } = (await import(peerModule("stores", "pg/lib/index.js"))) as PoolModule;
  return new pg.Pool({ connectionString, max });
}

/** Prepares the database once for all processes. */
export async function prepareStores(): Promise<void> {
  for (const name of wayNames) {
    const way = await openWay(name);
    if (way instanceof OurWay) await way.store.migrate();
    if (way instanceof StatementsWay) await way.migrate();
    await way.close();
  }
}

class OurWay implements StoreWay {
  readonly store: PostgresStore;
  readonly #pool: PostgresPool;
  readonly #sessions = new Map<string, Session>();

  constructor(pool: PostgresPool) {
    this.#pool = pool;
    this.store = postgresStore(pool);
  }

  async create(log: string): Promise<void> {
    this.#sessions.set(log, await createSession({ store: this.store, id: log, cwd: "/" }));
  }

  async append(log: string, from: number, count: number): Promise<unknown> {
    const session = this.#sessions.get(log) ?? (await this.#open(log));
    const draft = (i: number) => ({ type: "message", message: smallMessage(i) }) as const;
    if (count === 1) return session.append(draft(from));
    return session.appendAll(Array.from({ length: count }, (_, n) => draft(from + n)));
  }

  async read(log: string): Promise<number> {
    const session = await openSession({ store: this.store, id: log, access: "read" });
    return session.tree().size;
  }

  async close(): Promise<void> {
    await this.store.close();
    await this.#pool.end();
  }

  async #open(log: string): Promise<Session> {
    const session = await openSession({ store: this.store, id: log });
    this.#sessions.set(log, session);
    return session;
  }
}

/** The line that ours stores for a message. */
function lineOf(i: number): string {
  const parentId = i === 0 ? null : idOf(i - 1);
  const entry = { type: "message", id: idOf(i), parentId, timestamp: new Date().toISOString() };
  return JSON.stringify({ ...entry, message: smallMessage(i) });
}

class StatementsWay implements StoreWay {
  readonly #pool: PostgresPool;

  constructor(pool: PostgresPool) {
    this.#pool = pool;
  }

  async migrate(): Promise<void> {
    await this.#pool.query(
      "CREATE TABLE line (log text, seq bigint, body text NOT NULL, PRIMARY KEY (log, seq))",
    );
  }

  async create(): Promise<void> {
    await this.#pool.query("SELECT 1");
  }

  append(log: string, from: number, count: number): Promise<unknown> {
    if (count === 1) {
      return this.#pool.query("INSERT INTO line VALUES ($1, $2, $3)", [log, from, lineOf(from)]);
    }
    const numbers = Array.from({ length: count }, (_, n) => from + n);
    const text =
      "INSERT INTO line SELECT $1, * FROM unnest($2::bigint[], $3::text[]) AS t(seq, body)";
    return this.#pool.query(text, [log, numbers, numbers.map((n) => lineOf(n))]);
  }

  notify(log: string): Promise<unknown> {
    return this.#pool.query("SELECT pg_notify('bench', $1)", [log]);
  }

  async read(log: string): Promise<number> {
    const { rows } = await this.#pool.query<{ body: string }>(
      "SELECT body FROM line WHERE log = $1 ORDER BY seq",
      [log],
    );
    return rows.filter(({ body }) => JSON.parse(body) !== null).length;
  }

  close(): Promise<void> {
    return this.#pool.end();
  }
}

interface EmmettEvent {
  readonly type: string;
  readonly data: object;
}

interface EmmettStore {
  appendToStream(name: string, events: readonly EmmettEvent[]): Promise<unknown>;
  readStream(name: string): Promise<{ readonly events: readonly unknown[] }>;
  readonly schema: { migrate(): Promise<unknown> };
  close(): Promise<void>;
}

interface EmmettModule {
  getPostgreSQLEventStore(url: string): EmmettStore;
}

async function openEmmett(url: string): Promise<StoreWay> {
  const path = peerModule("stores", "@event-driven-io/emmett-postgresql/dist/index.js");
  // Decoding boundary: the module of the version in peers/stores.
  const module = (await import(path)) as EmmettModule;
  const store = module.getPostgreSQLEventStore(url);
  return {
    create: async () => {
      await store.schema.migrate();
    },
    append: async (log, from, count) => {
      const events = Array.from({ length: count }, (_, n) => {
        return { type: "message", data: smallMessage(from + n) };
      });
      // Of others that append at once, it lets one through.
      for (;;) {
        try {
          return await store.appendToStream(log, events);
        } catch (error) {
          if (!isConflict(error)) throw error;
        }
      }
    },
    read: async (log) => (await store.readStream(log)).events.length,
    close: () => store.close(),
  };
}

function isConflict(error: unknown): boolean {
  const { name, message } = error instanceof Error ? error : { name: "", message: "" };
  return /ExpectedVersionConflict|Concurrency/.test(name) || /version|conflict/i.test(message);
}
