/**
 * PgBouncer in transaction mode in front of a server of the tests: each transaction may be on
 * another of few connections, which all clients share. Debian's package has it.
 */
import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { existsSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { asPostgres, freePort, newFolder } from "./database-server.ts";
import type { DatabaseServer } from "./database-server.ts";

const program = "/usr/sbin/pgbouncer";

/** Whether tests with a pooler can run here. Throws where they must, and cannot. */
export function hasPooler(): boolean {
  const isThere = existsSync(program);
  if (!isThere && process.env["BRANCHLOG_REQUIRE_PGBOUNCER"] !== undefined) {
    throw new Error("BRANCHLOG_REQUIRE_PGBOUNCER is set, and there is no PgBouncer");
  }
  return isThere;
}

export class Pooler {
  readonly #child: ChildProcess;
  readonly #server: DatabaseServer;
  readonly #port: number;

  private constructor(child: ChildProcess, server: DatabaseServer, port: number) {
    this.#child = child;
    this.#server = server;
    this.#port = port;
  }

  /** @param connections To the server; clients may be more. */
  static async start(server: DatabaseServer, connections: number): Promise<Pooler> {
    const folder = newFolder();
    const port = await freePort();
    const settings = `
[databases]
* = host=127.0.0.1 port=${server.port} user=owner password='${decodeURIComponent(server.password)}'
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = any
pool_mode = transaction
default_pool_size = ${connections}
logfile = ${join(folder, "log")}
`;
    const file = join(folder, "pgbouncer.ini");
    writeFileSync(file, settings, { mode: 0o644 });
    const [name, words] = asPostgres(program, ["-q", file]);
    const child = spawn(name, [...words], { stdio: "ignore" });
    const pooler = new Pooler(child, server, port);
    await pooler.#answers();
    return pooler;
  }

  /** As that of the server. */
  url(schema: string): string {
    return this.#server.url(schema).replace(`:${this.#server.port}/`, `:${this.#port}/`);
  }

  async stop(): Promise<void> {
    const ended = new Promise((resolve) => {
      this.#child.on("exit", resolve);
    });
    this.#child.kill("SIGKILL");
    await ended;
  }

  /** Until it takes connections. */
  async #answers(): Promise<void> {
    for (;;) {
      if (this.#child.exitCode !== null) throw new Error(`pgbouncer: ${this.#child.exitCode}`);
      const isOpen = await new Promise<boolean>((resolve) => {
        const socket = connect(this.#port, "127.0.0.1");
        socket.on("connect", () => resolve(true));
        socket.on("error", () => resolve(false));
        socket.on("close", () => socket.destroy());
      });
      if (isOpen) return;
    }
  }
}
