/** Stores for callers that cannot wait. All of a process share one worker, which waits for them. */
import type { BlockingLog, StoredAppend, StoredFacts, StoredPosition } from "@branchlog/core/types";
import { requireStoredName } from "@branchlog/core/internal";
import type { BlockingStore, StorePlace } from "@branchlog/core/internal";
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
  const { shown, name } = storeAddress(text);
  const address = name === undefined ? shown : `${shown}#${encodeURIComponent(name)}`;
  const known = stores.get(shown);
  const { password, hash } = new URL(text);
  const given = text.slice(0, text.length - hash.length);
  const store =
    known !== undefined && (password === "" || known.given === given)
      ? known
      : new BlockingPostgresStore(shown, given);
  stores.set(shown, store);
  return { store, address, name };
}

class BlockingPostgresStore implements BlockingStore {
  readonly address: string;
  /** With its password. */
  readonly given: string;

  constructor(address: string, given: string) {
    this.address = address;
    this.given = given;
  }

  openSync(name: string): BlockingLog {
    const own = workerCalls();
    const opened = own.call("open", { store: this.given, name: requireStoredName(name) });
    return new BlockingPostgresLog(own, name, opened);
  }

  createSync(name: string, pieces: Iterable<Buffer>): BlockingLog {
    const own = workerCalls();
    const bytes = bytesToGive(Buffer.concat([...pieces]));
    const asked = { store: this.given, name: requireStoredName(name), bytes };
    return new BlockingPostgresLog(own, name, own.call("create", asked));
  }

  listSync(): readonly StoredFacts[] {
    return workerCalls().call("list", { store: this.given });
  }
}

const unused = new FinalizationRegistry<{ readonly calls: WorkerCalls; readonly log: number }>(
  ({ calls: own, log }) => {
    if (!own.isSilent) own.call("forget", { log });
  },
);

class BlockingPostgresLog implements BlockingLog {
  readonly name: string;
  readonly address: string;
  readonly #calls: WorkerCalls;
  readonly #log: number;

  constructor(own: WorkerCalls, name: string, { log, address }: OpenedLog) {
    this.name = name;
    this.address = address;
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
    if (answer.kind !== "overtaken" || answer.since === undefined) return answer;
    return { ...answer, since: Buffer.from(answer.since) };
  }

  watch(onHint: () => void): () => void {
    return this.#calls.watch(this.#log, onHint);
  }
}

/** Whose memory can be handed over: that of a buffer may be shared with others. */
function bytesToGive(bytes: Buffer): Uint8Array<ArrayBuffer> {
  return new Uint8Array(bytes);
}
