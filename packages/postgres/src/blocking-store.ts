/**
 * Stores for callers that cannot wait. All of a process share one worker, which waits on their
 * behalf.
 */
import { readAddress } from "@branchlog/core/addresses";
import type {
  IndexedPosition,
  LogPart,
  LogRange,
  LostLine,
  OpenedLog,
  StoredAppend,
  StoredFacts,
  StoredIndex,
  StoredLog,
  StoredPosition,
} from "@branchlog/core/types";
import { requireStoredName } from "@branchlog/core/files";
import type { BlockingStore, StorePlace } from "@branchlog/core/files";
import { storeAddress } from "./store-address.ts";
import { workerCalls } from "./shared-worker.ts";
import { asBuffer, asPart } from "./worker-calls.ts";
import type { LogInWorker, WorkerCalls } from "./worker-calls.ts";

/**
 * By the address that is shown: an address without a password, which a manager gives as its file
 * and its directory, is that of the store that was opened with one.
 */
const stores = new Map<string, BlockingPostgresStore>();

/** Throws `ERR_INVALID_ARGUMENT`. Does not connect. */
export function postgresPlace(text: string): StorePlace {
  const { shown, name, lockWaitMs } = storeAddress(text);
  const address = name === undefined ? shown : `${shown}#${encodeURIComponent(name)}`;
  const known = stores.get(shown);
  const { url } = readAddress(text);
  const given = url.href;
  const store =
    known !== undefined && (given === shown || known.given === given)
      ? known
      : new BlockingPostgresStore(shown, given, lockWaitMs);
  stores.set(shown, store);
  return { store, address, name };
}

class BlockingPostgresStore implements BlockingStore {
  readonly address: string;
  /** With its password. */
  readonly given: string;
  readonly #lockWaitMs: number | undefined;

  constructor(address: string, given: string, lockWaitMs: number | undefined) {
    this.address = address;
    this.given = given;
    this.#lockWaitMs = lockWaitMs;
  }

  openSync(name: string): StoredLog {
    const own = workerCalls();
    const opened = own.call("open", this.given, requireStoredName(name));
    return new WorkerLog(own, name, opened, this.#lockWaitMs);
  }

  createSync(name: string, pieces: Iterable<Buffer>): void {
    const bytes = bytesToGive(Buffer.concat([...pieces]));
    workerCalls().call("create", this.given, requireStoredName(name), bytes);
  }

  replaceSync(name: string, expected: StoredPosition, bytes: Buffer | undefined): boolean {
    const given = bytes && bytesToGive(bytes);
    return workerCalls().call("replace", this.given, requireStoredName(name), expected, given);
  }

  listSync(): readonly StoredFacts[] {
    return workerCalls().call("list", this.given);
  }
}

const unused = new FinalizationRegistry<{ readonly calls: WorkerCalls; readonly log: number }>(
  ({ calls: own, log }) => {
    if (!own.isSilent) own.forget(log);
  },
);

/** Its methods block until the worker has the answer of the log that it has open. */
class WorkerLog implements StoredLog {
  readonly name: string;
  readonly address: string;
  readonly isBlocking = true;
  readonly lockWaitMs: number | undefined;
  readonly index: StoredIndex;
  readonly #calls: WorkerCalls;
  readonly #log: number;
  #opened: OpenedLog | undefined;

  constructor(
    own: WorkerCalls,
    name: string,
    { log, address, opened }: LogInWorker,
    lockWaitMs: number | undefined,
  ) {
    this.name = name;
    this.address = address;
    this.lockWaitMs = lockWaitMs;
    this.#calls = own;
    this.#log = log;
    this.#opened = opened && { ...opened, pieces: opened.pieces.map(asBuffer) };
    this.index = new WorkerIndex(own, log);
    unused.register(this, { calls: own, log });
  }

  takeOpened(): OpenedLog | undefined {
    const opened = this.#opened;
    this.#opened = undefined;
    return opened;
  }

  end(): StoredPosition | undefined {
    return this.#calls.call("end", this.#log);
  }

  *read({ generation, at }: StoredPosition): Generator<Buffer, void, undefined> {
    for (let position = at; ;) {
      const from = { generation, at: position };
      const { bytes, isLast } = this.#calls.call("read", this.#log, from);
      position += bytes.length;
      if (bytes.length > 0) yield asBuffer(bytes);
      if (isLast) return;
    }
  }

  append(expected: StoredPosition, bytes: Buffer): StoredAppend {
    const answer = this.#calls.call("append", this.#log, expected, bytesToGive(bytes));
    if (answer.kind !== "conflict" || answer.since === undefined) return answer;
    return { ...answer, since: asBuffer(answer.since) };
  }

  flush(until: StoredPosition): boolean {
    return this.#calls.call("flush", this.#log, until);
  }

  reportLost(lines: readonly LostLine[]): void {
    this.#calls.call("reportLost", this.#log, lines);
  }

  watch(onHint: () => void): () => void {
    return this.#calls.watch(this.#log, onHint);
  }
}

class WorkerIndex implements StoredIndex {
  readonly #calls: WorkerCalls;
  readonly #log: number;

  constructor(calls: WorkerCalls, log: number) {
    this.#calls = calls;
    this.#log = log;
  }

  async readPart(range: LogRange): Promise<LogPart> {
    return this.readPartSync(range);
  }

  readPartSync(range: LogRange): LogPart {
    return asPart(this.#calls.call("readPart", this.#log, range));
  }

  read(): readonly Buffer[] {
    return this.#calls.call("readIndex", this.#log).map(asBuffer);
  }

  position(): IndexedPosition {
    return this.#calls.call("indexPosition", this.#log);
  }

  save(position: IndexedPosition, pieces: readonly Buffer[]): boolean {
    return this.#calls.call("saveIndex", this.#log, position, pieces);
  }
}

/** Whose memory can be handed over: that of a buffer may be shared with others. */
function bytesToGive(bytes: Buffer): Uint8Array<ArrayBuffer> {
  return new Uint8Array(bytes);
}
