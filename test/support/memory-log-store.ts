/** A store in the memory of this process, for tests and as the plainest example of one. */
import type {
  LogStore,
  StoredAppend,
  StoredLog,
  StoredPosition,
} from "../../packages/core/src/store/log-store.ts";
import { MemoryBytes } from "../../packages/core/src/platform/private-ports.ts";
import { requireStoredName, storedLogError } from "../../packages/core/src/store/stored-names.ts";

interface MemoryLog {
  readonly generation: string;
  readonly bytes: MemoryBytes;
}

const pieceBytes = 64 * 1024;

export class MemoryLogStore implements LogStore {
  readonly #logs = new Map<string, MemoryLog>();
  readonly #watchers = new Map<string, Set<() => void>>();
  #created = 0;

  async open(name: string): Promise<StoredLog> {
    if (!this.#logs.has(requireStoredName(name))) throw storedLogError("missing", name);
    return this.#logNamed(name);
  }

  async create(name: string, pieces: AsyncIterable<Buffer> | Iterable<Buffer>): Promise<StoredLog> {
    requireStoredName(name);
    const bytes = new MemoryBytes();
    for await (const piece of pieces) bytes.append(piece, 0, piece.length);
    if (this.#logs.has(name)) throw storedLogError("exists", name);
    this.#created += 1;
    this.#logs.set(name, { generation: String(this.#created), bytes });
    return this.#logNamed(name);
  }

  async *names(): AsyncGenerator<string, void, undefined> {
    yield* this.#logs.keys();
  }

  async remove(name: string): Promise<void> {
    if (!this.#logs.delete(requireStoredName(name))) throw storedLogError("missing", name);
  }

  #logNamed(name: string): StoredLog {
    return {
      name,
      address: `memory:${name}`,
      read: (from) => this.#read(name, from),
      end: async () => endOf(this.#logs.get(name)),
      append: async (expected, bytes) => this.#append(name, expected, bytes),
      watch: (onHint) => this.#watch(name, onHint),
    };
  }

  async *#read(
    name: string,
    { generation, at }: StoredPosition,
  ): AsyncGenerator<Buffer, void, undefined> {
    for (let position = at; ;) {
      const log = this.#logs.get(name);
      if (log === undefined || log.generation !== generation) throw storedLogError("gone", name);
      const piece = Buffer.alloc(Math.min(pieceBytes, log.bytes.length - position));
      if (piece.length === 0) return;
      log.bytes.copyTo(piece, 0, piece.length, position);
      position += piece.length;
      yield piece;
    }
  }

  #append(name: string, expected: StoredPosition, bytes: Buffer): StoredAppend {
    const log = this.#logs.get(name);
    if (log === undefined || log.generation !== expected.generation) return { kind: "gone" };
    const there = Buffer.alloc(bytes.length);
    if (log.bytes.length !== expected.at) {
      const count = log.bytes.copyTo(there, 0, there.length, expected.at);
      const isSame = count === bytes.length && there.equals(bytes);
      return { kind: isSame ? "alreadyStored" : "conflict", end: positionIn(log) };
    }
    log.bytes.append(bytes, 0, bytes.length);
    for (const hint of this.#watchers.get(name) ?? []) queueMicrotask(hint);
    return { kind: "appended", end: positionIn(log) };
  }

  #watch(name: string, onHint: () => void): () => void {
    const own = (): void => onHint();
    const all = this.#watchers.get(name) ?? new Set();
    this.#watchers.set(name, all.add(own));
    return () => {
      all.delete(own);
    };
  }
}

function positionIn({ generation, bytes }: MemoryLog): StoredPosition {
  return { generation, at: bytes.length };
}

function endOf(log: MemoryLog | undefined): StoredPosition | undefined {
  return log === undefined ? undefined : positionIn(log);
}
