/** A store in the memory of this process, for callers that cannot wait. */
import { registerBlockingStores, requireStoredName, storedLogError } from "@branchlog/core/files";
import type { BlockingStore } from "@branchlog/core/files";
import type { StoredAppend, StoredFacts, StoredLog, StoredPosition } from "@branchlog/core/types";

interface MemoryLog {
  readonly generation: string;
  readonly changedAt: Date;
  bytes: Buffer;
}

let made = 0;
const stores = new Map<string, BlockingMemoryStore>();

/** Managers and storages open it by its address. */
export function blockingMemoryStore(): BlockingMemoryStore {
  registerBlockingStores("memory", (address) => {
    const store = stores.get(address);
    if (store === undefined) throw storedLogError("missing", address);
    return { store, address, name: undefined };
  });
  made += 1;
  const store = new BlockingMemoryStore(`memory://store-${made}`);
  stores.set(store.address, store);
  return store;
}

export class BlockingMemoryStore implements BlockingStore {
  readonly address: string;
  /** Called once, with the next append, before the log is looked at. */
  beforeAppend: (() => void) | undefined;
  /** Called once, after the next append: what it throws is its answer. */
  afterAppend: (() => void) | undefined;
  readonly #logs = new Map<string, MemoryLog>();
  #created = 0;

  constructor(address: string) {
    this.address = address;
  }

  openSync(name: string): StoredLog {
    const at = requireStoredName(name);
    if (!this.#logs.has(at)) throw storedLogError("missing", at);
    return {
      name: at,
      address: `${this.address}#${at}`,
      isBlocking: true,
      read: (from) => this.#read(at, from),
      end: () => positionIn(this.#logs.get(at)),
      append: (expected, bytes) => this.#append(at, expected, bytes),
      watch: () => () => undefined,
    };
  }

  createSync(name: string, pieces: Iterable<Buffer>): void {
    if (this.#logs.has(requireStoredName(name))) throw storedLogError("exists", name);
    this.#created += 1;
    const bytes = Buffer.concat([...pieces]);
    this.#logs.set(name, {
      generation: String(this.#created),
      changedAt: new Date(this.#created),
      bytes,
    });
  }

  replaceSync(name: string, expected: StoredPosition, bytes: Buffer | undefined): boolean {
    const end = positionIn(this.#logs.get(name));
    if (end?.generation !== expected.generation || end.at !== expected.at) return false;
    this.#logs.delete(name);
    if (bytes !== undefined) this.createSync(name, [bytes]);
    return true;
  }

  listSync(): readonly StoredFacts[] {
    return Array.from(this.#logs, ([name, { bytes, changedAt }]) => ({
      name,
      address: `${this.address}#${name}`,
      sessionId: undefined,
      cwd: undefined,
      sizeBytes: bytes.length,
      changedAt,
    }));
  }

  #read(name: string, { generation, at }: StoredPosition): readonly Buffer[] {
    const log = this.#logs.get(name);
    if (log?.generation !== generation) throw storedLogError("gone", name);
    return [log.bytes.subarray(at)];
  }

  #append(name: string, expected: StoredPosition, bytes: Buffer): StoredAppend {
    taken(this.beforeAppend, () => (this.beforeAppend = undefined));
    const answer = this.#stored(name, expected, bytes);
    taken(this.afterAppend, () => (this.afterAppend = undefined));
    return answer;
  }

  #stored(name: string, { generation, at }: StoredPosition, bytes: Buffer): StoredAppend {
    const log = this.#logs.get(name);
    if (log?.generation !== generation) return { kind: "gone" };
    const end = { generation, at: log.bytes.length };
    if (end.at === at) {
      log.bytes = Buffer.concat([log.bytes, bytes]);
      return { kind: "appended", end: { generation, at: log.bytes.length } };
    }
    const isSame = log.bytes.subarray(at, at + bytes.length).equals(bytes);
    return { kind: isSame ? "alreadyStored" : "conflict", end };
  }
}

function taken(hook: (() => void) | undefined, forget: () => void): void {
  forget();
  hook?.();
}

function positionIn(log: MemoryLog | undefined): StoredPosition | undefined {
  return log && { generation: log.generation, at: log.bytes.length };
}
