/**
 * MCP over the input and output of the command: one message a line. A line that is not a message is
 * reported on `err`, and skipped. The end of the input ends it, once the requests before are
 * answered; so does an output that is closed.
 */
import { ReadBuffer, serializeMessage } from "@modelcontextprotocol/sdk/shared/stdio.js";
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js";
import type { JSONRPCMessage } from "@modelcontextprotocol/sdk/types.js";
import type { CommandIo } from "../command-io.ts";

export class StandardTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage) => void;
  readonly #io: Pick<CommandIo, "input" | "out" | "err">;
  readonly #lines = new ReadBuffer();
  /** Ids of requests without an answer. */
  readonly #open = new Set<unknown>();
  readonly #ended: Promise<void>;
  #end: () => void = () => undefined;
  #isInputOver = false;
  #isClosed = false;

  constructor(io: Pick<CommandIo, "input" | "out" | "err">) {
    this.#io = io;
    this.#ended = new Promise((resolve) => {
      this.#end = resolve;
    });
  }

  /** Resolves when the connection has ended. */
  get ended(): Promise<void> {
    return this.#ended;
  }

  start(): Promise<void> {
    this.#read().then(
      () => {
        this.#isInputOver = true;
        return this.#endIfAnswered();
      },
      () => this.close(),
    );
    return Promise.resolve();
  }

  async send(message: JSONRPCMessage): Promise<void> {
    const { out } = this.#io;
    try {
      await out.writeData(serializeMessage(message), "text");
      await out.flush();
    } catch {
      // The client disconnected.
      await this.close();
      return;
    }
    if ("id" in message && !("method" in message)) this.#open.delete(message.id);
    await this.#endIfAnswered();
  }

  close(): Promise<void> {
    if (!this.#isClosed) {
      this.#isClosed = true;
      this.onclose?.();
      this.#end();
    }
    return Promise.resolve();
  }

  async #read(): Promise<void> {
    for await (const chunk of this.#io.input()) {
      if (this.#isClosed) return;
      await this.#reported(() => this.#lines.append(Buffer.from(chunk)));
      while (await this.#reported(() => this.#next())) continue;
    }
  }

  /** False: there is no further line. */
  #next(): boolean {
    const message = this.#lines.readMessage();
    if (message !== null) this.#take(message);
    return message !== null;
  }

  #take(message: JSONRPCMessage): void {
    if ("method" in message && "id" in message) this.#open.add(message.id);
    if ("method" in message && message.method === "notifications/cancelled") {
      // A cancelled request gets no answer.
      this.#open.delete(message.params?.["requestId"]);
    }
    this.onmessage?.(message);
  }

  /** True after a failure: the next line may be a message. Its text may be anything. */
  async #reported<T>(work: () => T): Promise<T | true> {
    try {
      return work();
    } catch (error) {
      const isLong = error instanceof Error && error.message.includes("maximum size");
      const what = isLong ? "a message is too long" : "a line is not an MCP message";
      await this.#io.err.write(`${what}; it was skipped\n`);
      await this.#io.err.flush();
      return true;
    }
  }

  async #endIfAnswered(): Promise<void> {
    if (this.#isInputOver && this.#open.size === 0) await this.close();
  }
}
