/** A database of the benchmark's own on a given server, and a port that is 5 ms away from it. */
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";
import { env, pid } from "node:process";
import { farVariable, nearVariable, openPool, prepareStores } from "./store-ways.ts";

/** Added to each round trip. */
const farMs = 5;

let drop: (() => Promise<void>) | undefined;

/** For an interrupt. */
export async function endStores(): Promise<void> {
  await drop?.();
}

/** Runs the work with the database, and drops it. */
export async function withStores<T>(url: string, work: () => Promise<T>): Promise<T> {
  const database = `branchlog_bench_${pid}`;
  const own = new URL(url);
  own.pathname = `/${database}`;
  const pool = await openPool(url, 1);
  drop = async () => {
    drop = undefined;
    await pool.query(`DROP DATABASE IF EXISTS ${database} WITH (FORCE)`);
    await pool.end();
  };
  const far = new URL(own);
  const delay = delayed(own);
  try {
    await pool.query(`CREATE DATABASE ${database}`);
    far.hostname = "127.0.0.1";
    far.port = String(await listening(delay));
    env[nearVariable] = own.href;
    env[farVariable] = far.href;
    await prepareStores();
    return await work();
  } finally {
    delay.close();
    await endStores();
  }
}

function delayed({ hostname, port }: URL): Server {
  return createServer((client) => {
    const server = connect(Number(port || 5432), hostname);
    const end = (): void => {
      client.destroy();
      server.destroy();
    };
    forward(client, server, farMs);
    forward(server, client, 0);
    client.on("error", end).on("close", end);
    server.on("error", end).on("close", end);
  });
}

function forward(from: Socket, to: Socket, ms: number): void {
  to.setNoDelay(true);
  from.on("data", (bytes) => {
    if (ms === 0) to.write(bytes);
    else setTimeout(() => to.write(bytes), ms);
  });
}

async function listening(server: Server): Promise<number> {
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
  // Listening on a port, a server has an address of this kind.
  return (server.address() as AddressInfo).port;
}
