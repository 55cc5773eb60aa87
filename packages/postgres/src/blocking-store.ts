/** Stores for callers that cannot wait. All of a process share one worker, which waits for them. */
import { readAddress } from "@branchlog/core/addresses";
import type {
  BlockingLog,
  LostLine,
  StoredAppend,
  StoredFacts,
  StoredPosition,
} from "@branchlog/core/types";
import { requireStoredName } from "@branchlog/core/files";
import type { BlockingStore, StorePlace } from "@branchlog/core/files";
import { storeAddress } from "./store-address.ts";
import { WorkerCalls } from "./worker-calls.ts";
import type { OpenedLog } from "./worker-calls.ts";

let calls: WorkerCalls | undefined;

function workerCalls(): WorkerCalls {
  if (calls === undefined || calls.isSilent) calls = new WorkerCalls();
  return calls;
}

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

  openSync(name: string): BlockingLog {
    const own = workerCalls();
    const opened = own.call("open", { store: this.given, name: requireStoredName(name) });
    return new BlockingPostgresLog(own, name, opened, this.#lockWaitMs);
  }

  createSync(name: string, pieces: Iterable<Buffer>): BlockingLog {
    const own = workerCalls();
    const bytes = bytesToGive(Buffer.concat([...pieces]));
    const asked = { store: this.given, name: requireStoredName(name), bytes };
    return new BlockingPostgresLog(own, name, own.call("create", asked), this.#lockWaitMs);
  }

  listSync(): readonly StoredFacts[] {
    return workerCalls().call("list", { store: this.given });
  }
}

const unused = new FinalizationRegistry<{ readonly calls: WorkerCalls; readonly log: number }>(
  ({ calls: own, log }) => {
    if (!own.isSilent) own.forget(log);
  },
);

class BlockingPostgresLog implements BlockingLog {
  readonly name: string;
  readonly address: string;
  readonly lockWaitMs: number | undefined;
  readonly #calls: WorkerCalls;
  readonly #log: number;

  constructor(
    own: WorkerCalls,
    name: string,
    { log, address }: OpenedLog,
    lockWaitMs: number | undefined,
  ) {
    this.name = name;
    this.address = address;
    this.lockWaitMs = lockWaitMs;
    this.#calls = own;
    this.#log = log;
    unused.register(this, { calls: own, log });
  }

  endSync(): StoredPosition | undefined {
    return this.#calls.call("end", { log: this.#log });
  }

  *readSync({ generation, at }: StoredPosition): Generator<Buffer, void, undefined> {
    for (let position = at; ;) {
      const from = { generation, at: position };
      const { bytes, isLast } = this.#calls.call("read", { log: this.#log, from });
      position += bytes.length;
      if (bytes.length > 0) yield Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
      if (isLast) return;
    }
  }

  appendSync(expected: StoredPosition, bytes: Buffer): StoredAppend {
    const asked = { log: this.#log, expected, bytes: bytesToGive(bytes) };
    const answer = this.#calls.call("append", asked);
    // A buffer that was posted is an array of bytes.
    if (answer.kind !== "conflict" || answer.since === undefined) return answer;
    return { ...answer, since: Buffer.from(answer.since) };
  }

  flushSync(until: StoredPosition): boolean {
    return this.#calls.call("flush", { log: this.#log, until });
  }

  reportLostSync(lines: readonly LostLine[]): void {
    this.#calls.call("reportLost", { log: this.#log, lines });
  }

  watch(onHint: () => void): () => void {
    return this.#calls.watch(this.#log, onHint);
  }
}

/** Whose memory can be handed over: that of a buffer may be shared with others. */
function bytesToGive(bytes: Buffer): Uint8Array<ArrayBuffer> {
  return new Uint8Array(bytes);
}
