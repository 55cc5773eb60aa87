/** Calls that block this thread until a worker, which can wait for a database, has answered. */
import { MessageChannel, Worker, receiveMessageOnPort } from "node:worker_threads";
import type { MessagePort } from "node:worker_threads";
import { BranchlogError } from "@branchlog/core";
import type { ErrorCode } from "@branchlog/core";
import { waitBlocking } from "@branchlog/core/files";
import type {
  IndexedPosition,
  LogPart,
  LogRange,
  LostLine,
  OpenedLog,
  StoredAppend,
  StoredFacts,
  StoredPosition,
} from "@branchlog/core/types";

import type { LogInDatabase } from "./postgres-index.ts";

/** A log that the worker has open, by number. */
export interface LogInWorker {
  readonly log: number;
  /** Without secrets. */
  readonly address: string;
  readonly opened: OpenedLog | undefined;
}

/**
 * The methods of the worker. Stores are named by their addresses, secrets included, logs by
 * numbers.
 */
export interface WorkerMethods {
  open(store: string, name: string): LogInWorker;
  create(store: string, name: string, bytes: Uint8Array<ArrayBuffer>): void;
  replace(
    store: string,
    name: string,
    expected: StoredPosition,
    bytes: Uint8Array<ArrayBuffer> | undefined,
  ): boolean;
  list(store: string): readonly StoredFacts[];
  end(log: number): StoredPosition | undefined;
  read(log: number, from: StoredPosition): ReadPiece;
  append(log: number, expected: StoredPosition, bytes: Uint8Array<ArrayBuffer>): StoredAppend;
  flush(log: number, until: StoredPosition): boolean;
  readPart(log: number, range: LogRange): LogPart;
  /** Without having it open. */
  readPartOf(store: string, log: LogInDatabase, known: IndexedPosition, range: LogRange): LogPart;
  readIndex(log: number): readonly Uint8Array[];
  indexPosition(log: number): IndexedPosition;
  saveIndex(log: number, position: IndexedPosition, pieces: readonly Uint8Array[]): boolean;
  reportLost(log: number, lines: readonly LostLine[]): void;
  watch(log: number): void;
  unwatch(log: number): void;
  forget(log: number): void;
}

export interface ReadPiece {
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** Whether the log ended here. */
  readonly isLast: boolean;
}

export interface WorkerCall {
  readonly number: number;
  readonly method: keyof WorkerMethods;
  readonly asked: readonly unknown[];
}

export type WorkerAnswer =
  | { readonly value: unknown }
  | { readonly error: { readonly code?: ErrorCode; readonly message: string } };

/** To the call with that number: that of an interrupted call may come during the next one. */
export interface NumberedAnswer {
  readonly number: number;
  readonly answer: WorkerAnswer;
}

/** The arguments of the worker. */
export interface WorkerSetting {
  readonly port: MessagePort;
  /** Shared: how many calls were answered, and a counter that advances during a call. */
  readonly state: Int32Array<SharedArrayBuffer>;
}

export const answersAt = 0;
export const beatAt = 1;
export const beatMs = 1_000;

/** A worker that is short of memory may end without an event. */
const silenceMsMax = 30_000;

/** Both `src` and `dist` have it next to them. */
const script = new URL("../dist/store-worker.js", import.meta.url);

export class WorkerCalls {
  readonly #worker: Worker;
  readonly #port: MessagePort;
  readonly #state = new Int32Array(new SharedArrayBuffer(8));
  readonly #watchers = new Map<number, () => void>();
  #number = 0;
  #isSilent = false;

  constructor() {
    const { port1, port2 } = new MessageChannel();
    const workerData: WorkerSetting = { port: port2, state: this.#state };
    // Modules that Node was told to import are for the program.
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

  /**
   * Throws what the store rejects with, and `ERR_INTERRUPTED`: the call then continues, and its
   * answer is discarded. Without a worker, `ERR_APPEND_UNCERTAIN` of a call that may have stored
   * something, else `ERR_STORE_UNAVAILABLE`.
   */
  call<Method extends keyof WorkerMethods>(
    method: Method,
    ...asked: Parameters<WorkerMethods[Method]>
  ): ReturnType<WorkerMethods[Method]> {
    const answer = this.#answer(this.#post(method, asked), storing.has(method));
    if ("error" in answer) throw thrown(answer.error);
    // Decoding boundary: what that method of the worker returned.
    return answer.value as ReturnType<WorkerMethods[Method]>;
  }

  /** Without waiting for it. */
  forget(log: number): void {
    this.#post("forget", [log]);
  }

  /** Keeps the process alive until the returned function is called. */
  watch(log: number, onHint: () => void): () => void {
    this.call("watch", log);
    this.#watchers.set(log, onHint);
    this.#worker.ref();
    return () => {
      if (!this.#watchers.delete(log)) return;
      if (this.#watchers.size === 0) this.#worker.unref();
      if (!this.#isSilent) this.call("unwatch", log);
    };
  }

  #post(method: keyof WorkerMethods, asked: readonly unknown[]): number {
    this.#number += 1;
    const call: WorkerCall = { number: this.#number, method, asked };
    const bytes = asked.filter((one) => one instanceof Uint8Array);
    const given = bytes.map(({ buffer }) => buffer).filter((one) => one instanceof ArrayBuffer);
    this.#port.postMessage(call, given);
    return this.#number;
  }

  #answer(number: number, mayStore: boolean): WorkerAnswer {
    for (;;) {
      const answers = Atomics.load(this.#state, answersAt);
      const received = receiveMessageOnPort(this.#port)?.message as NumberedAnswer | undefined;
      if (received?.number === number) return received.answer;
      if (received === undefined && !this.#wait(answers)) throw silent(mayStore);
    }
  }

  /** Until there are more answers. False: the worker ended, or is silent. */
  #wait(answers: number): boolean {
    const wait = { state: this.#state, at: answersAt, value: answers, ms: silenceMsMax };
    for (let beat = -1; !this.#isSilent;) {
      if (waitBlocking(wait)) return true;
      const now = Atomics.load(this.#state, beatAt);
      this.#isSilent = now === beat;
      beat = now;
    }
    void this.#worker.terminate();
    return false;
  }
}

/** A buffer that was posted is an array of bytes. */
export function asBuffer({ buffer, byteOffset, byteLength }: Uint8Array): Buffer {
  return Buffer.from(buffer, byteOffset, byteLength);
}

export function asPart({ at, pieces }: LogPart): LogPart {
  return { at, pieces: pieces.map(asBuffer) };
}

const storing: ReadonlySet<keyof WorkerMethods> = new Set(["append", "create", "flush"]);

function silent(mayStore: boolean): BranchlogError {
  const message =
    "The worker that talks to the store ended, or no longer answers; whether the last " +
    "call took effect is unknown. Open the session again.";
  return new BranchlogError(mayStore ? "ERR_APPEND_UNCERTAIN" : "ERR_STORE_UNAVAILABLE", message);
}

function thrown({ code, message }: { code?: ErrorCode; message: string }): Error {
  return code === undefined ? new Error(message) : new BranchlogError(code, message);
}
