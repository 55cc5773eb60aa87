/** Calls that block this thread until a worker, which can wait for a database, has answered. */
import { MessageChannel, Worker, receiveMessageOnPort } from "node:worker_threads";
import type { MessagePort } from "node:worker_threads";
import { BranchlogError } from "@branchlog/core";
import type { ErrorCode } from "@branchlog/core";
import type { StoredAppend, StoredFacts, StoredPosition } from "@branchlog/core/types";

/** A log that the worker has open, by number. */
export interface OpenedLog {
  readonly log: number;
  /** Without secrets. */
  readonly address: string;
}

/** What is asked, and answered. Stores are named by their addresses, secrets included. */
export interface StoreCalls {
  open: { asks: { readonly store: string; readonly name: string }; answers: OpenedLog };
  create: {
    asks: {
      readonly store: string;
      readonly name: string;
      readonly bytes: Uint8Array<ArrayBuffer>;
    };
    answers: OpenedLog;
  };
  list: { asks: { readonly store: string }; answers: readonly StoredFacts[] };
  end: { asks: { readonly log: number }; answers: StoredPosition | undefined };
  read: { asks: { readonly log: number; readonly from: StoredPosition }; answers: ReadPiece };
  append: {
    asks: {
      readonly log: number;
      readonly expected: StoredPosition;
      readonly bytes: Uint8Array<ArrayBuffer>;
    };
    answers: StoredAppend;
  };
  watch: { asks: { readonly log: number }; answers: undefined };
  unwatch: { asks: { readonly log: number }; answers: undefined };
  forget: { asks: { readonly log: number }; answers: undefined };
}

export interface ReadPiece {
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** Whether the log ended here. */
  readonly isLast: boolean;
}

export type StoreCall = {
  [Kind in keyof StoreCalls]: { readonly kind: Kind } & StoreCalls[Kind]["asks"];
}[keyof StoreCalls];

export type StoreAnswer =
  | { readonly value: StoreCalls[keyof StoreCalls]["answers"] }
  | { readonly error: { readonly code?: ErrorCode; readonly message: string } };

/** What the worker starts with. */
export interface WorkerSetting {
  readonly port: MessagePort;
  /** Shared: whether the call was answered, and a count that goes on while it is worked on. */
  readonly state: Int32Array;
}

export const answeredAt = 0;
export const beatAt = 1;
export const beatMs = 1_000;

/** A worker that is short of memory may be gone without a word. */
const silenceMsMax = 30_000;

/** Both `src` and `dist` have it beside them. */
const script = new URL("../dist/store-worker.js", import.meta.url);

export class WorkerCalls {
  readonly #worker: Worker;
  readonly #port: MessagePort;
  readonly #state = new Int32Array(new SharedArrayBuffer(8));
  readonly #watchers = new Map<number, () => void>();
  #isSilent = false;

  constructor() {
    const { port1, port2 } = new MessageChannel();
    const workerData: WorkerSetting = { port: port2, state: this.#state };
    // What Node was told to import is for the program.
    this.#worker = new Worker(script, { workerData, transferList: [port2], execArgv: [] });
    this.#port = port1;
    this.#worker.on("message", (log: number) => this.#watchers.get(log)?.());
    // The next call notices it.
    this.#worker.on("error", () => {
      this.#isSilent = true;
    });
    this.#worker.unref();
  }

  get isSilent(): boolean {
    return this.#isSilent;
  }

  /** Throws what the store rejects with, and `ERR_STORE_UNAVAILABLE` without a worker. */
  call<Kind extends keyof StoreCalls>(
    kind: Kind,
    asks: StoreCalls[Kind]["asks"],
  ): StoreCalls[Kind]["answers"] {
    Atomics.store(this.#state, answeredAt, 0);
    this.#port.postMessage({ kind, ...asks }, "bytes" in asks ? [asks.bytes.buffer] : []);
    this.#wait();
    // Of the type that the worker gives to an answer to this kind of call.
    const answer = receiveMessageOnPort(this.#port)?.message as StoreAnswer | undefined;
    if (answer === undefined) throw new Error("an answer that was told of and not given");
    if ("error" in answer) throw thrown(answer.error);
    return answer.value;
  }

  /** Keeps the process alive until the returned function is called. */
  watch(log: number, onHint: () => void): () => void {
    this.#watchers.set(log, onHint);
    this.#worker.ref();
    this.call("watch", { log });
    return () => {
      if (!this.#watchers.delete(log)) return;
      if (this.#watchers.size === 0) this.#worker.unref();
      if (!this.#isSilent) this.call("unwatch", { log });
    };
  }

  #wait(): void {
    for (let beat = -1; !this.#isSilent;) {
      const outcome = Atomics.wait(this.#state, answeredAt, 0, silenceMsMax);
      if (outcome !== "timed-out") return;
      const now = Atomics.load(this.#state, beatAt);
      this.#isSilent = now === beat;
      beat = now;
    }
    void this.#worker.terminate();
    const message =
      "The worker that talks to the store ended, or does not answer any more; whether the last " +
      "call was carried out is not known. Open the session again.";
    throw new BranchlogError("ERR_STORE_UNAVAILABLE", message);
  }
}

function thrown({ code, message }: { code?: ErrorCode; message: string }): Error {
  return code === undefined ? new Error(message) : new BranchlogError(code, message);
}
