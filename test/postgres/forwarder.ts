/**
 * A port of the loopback that forwards to another one, which may change, and can lose connections at
 * the worst moments.
 */
import { connect, createServer } from "node:net";
import type { AddressInfo, Server, Socket } from "node:net";

/**
 * What becomes of bytes from a client. `cut before`: they are lost, with the connection. `cut
 * after`: the server gets them, its answer is lost, with the connection. `hang`: they are lost, and
 * the connection is silent from then on. `late`: the client loses its connection, and the server
 * gets them at the next {@link Forwarder.deliverLate}.
 */
export type Fate = "pass" | "cut before" | "cut after" | "hang" | "late";

export class Forwarder {
  /** Of new connections. */
  target: number;
  /** Both ways, in ms. */
  latencyMs = 0;
  /** Asked about all bytes of clients. */
  fateOf: (bytes: Buffer) => Fate = () => "pass";
  /** Told all bytes of the server. */
  onAnswer: (bytes: Buffer) => void = () => undefined;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  #late: (() => Promise<void>)[] = [];

  constructor(target: number) {
    this.target = target;
    this.#server = createServer((client) => this.#forward(client));
  }

  /** Its port. */
  async start(): Promise<number> {
    await new Promise<void>((resolve) => {
      this.#server.listen(0, "127.0.0.1", resolve);
    });
    return (this.#server.address() as AddressInfo).port;
  }

  /** Resolves when the server has answered, to nobody. */
  async deliverLate(): Promise<number> {
    const late = this.#late.splice(0);
    for (const deliver of late) await deliver();
    return late.length;
  }

  /** Ends its connections, and takes no more. */
  close(): void {
    this.#server.close();
    this.cut();
  }

  /** Ends its connections. */
  cut(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  #forward(client: Socket): void {
    const server = connect(this.target, "127.0.0.1");
    let isSilent = false;
    const cut = (): void => {
      client.destroy();
      server.destroy();
    };
    for (const socket of [client, server]) {
      this.#sockets.add(socket);
      socket.setNoDelay(true);
      socket.on("error", () => socket.destroy());
      socket.on("close", () => this.#sockets.delete(socket));
    }
    client.on("data", (bytes: Buffer) => {
      if (isSilent) return;
      const fate = this.fateOf(bytes);
      if (fate === "pass") {
        this.#later(() => server.write(bytes));
        return;
      }
      isSilent = true;
      if (fate === "cut before") cut();
      if (fate === "cut after") {
        server.once("data", cut);
        server.write(bytes);
      }
      if (fate === "late") {
        isLate = true;
        this.#late.push(async () => {
          // It had waited for too long in a transaction.
          if (server.destroyed) return;
          const answered = new Promise<void>((resolve) => {
            server.once("data", () => resolve());
            server.once("close", resolve);
          });
          server.write(bytes);
          await answered;
          server.destroy();
        });
        client.destroy();
      }
    });
    server.on("data", (bytes: Buffer) => {
      this.onAnswer(bytes);
      if (!isSilent) this.#later(() => client.write(bytes));
    });
    let isLate = false;
    client.on("close", () => {
      if (!isLate) server.destroy();
    });
    server.on("close", () => {
      if (!isSilent) client.destroy();
    });
  }

  #later(forward: () => void): void {
    if (this.latencyMs === 0) forward();
    else setTimeout(forward, this.latencyMs);
  }
}
