/**
 * A copy of a log of a store in a private file: of all of its bytes; or, where the store has an
 * index of it, of that and of the bytes after, those before being fetched when they are read.
 */
import { io, readFully } from "@branchlog/streaming";
import type { ByteSource, Steps } from "@branchlog/streaming";
import { AtomicFile, writeFully } from "../platform/atomic-file.ts";
import type { PartReader } from "../platform/partial-bytes.ts";
import type { PrivatePorts } from "../platform/private-ports.ts";
import type {
  LogPart,
  OpenedLog,
  StoredIndex,
  StoredLog,
  StoredPosition,
} from "../store/log-store.ts";
import { storedLogError } from "../store/stored-names.ts";
import { eachPiece } from "./fetched-pieces.ts";
import { fetchCheckpoint } from "./stored-checkpoint.ts";

export interface Replica {
  readonly stored: StoredLog;
  /** Private: nothing else writes to the file. */
  readonly ports: PrivatePorts;
  /** How far the file has the bytes of the log. */
  readonly position: StoredPosition;
  /** Those that are fetched when they are read, and of which there is a checkpoint. */
  readonly parts?: LogParts;
}

/**
 * Fetches a log into its file, which it replaces, or its index and what is after that. Throws
 * `ERR_LOG_MISSING`, as the store does.
 */
export function* replicate(stored: StoredLog, ports: PrivatePorts): Steps<Replica> {
  const opened = stored.takeOpened?.();
  const indexed = opened && (yield* replicateIndexed(stored, ports, opened));
  return indexed ?? (yield* replicateWhole(stored, ports, opened));
}

/** Header and fingerprint. */
const edgeBytes = 4096;

/** Undefined: there is no index, or it is damaged, or no file can be made for the bytes. */
function* replicateIndexed(
  stored: StoredLog,
  ports: PrivatePorts,
  { end, indexedTo }: OpenedLog,
): Steps<Replica | undefined> {
  const { index } = stored;
  if (index === undefined || indexedTo === undefined) return undefined;
  if (!(yield* fetchCheckpoint(stored, index, ports))) return undefined;
  const parts = new LogParts(stored.name, index, indexedTo);
  try {
    ports.fs.addPartial(stored.address, indexedTo, parts);
  } catch {
    return undefined;
  }
  let position: StoredPosition = { ...end, at: indexedTo };
  const { fs } = ports;
  const fd = fs.openSync(stored.address, "append");
  const file: ByteSource = {
    readSync: (target, offset, length, at) => fs.readSync(fd, target, offset, length, at),
    read: (target, offset, length, at) => fs.read(fd, target, offset, length, at),
  };
  try {
    // What is compared with the checkpoint, and whenever the log has grown.
    const edge = Buffer.allocUnsafe(Math.min(edgeBytes, indexedTo));
    yield* readFully(file, edge, 0);
    yield* readFully(file, edge, indexedTo - edge.length);
    yield* fetched(stored, position, (bytes) => {
      writeFully(fs, fd, bytes);
      position = { ...position, at: position.at + bytes.length };
    });
  } finally {
    fs.closeSync(fd);
  }
  return { stored, ports, position, parts };
}

export class LogParts implements PartReader {
  readonly length: number;
  readonly #name: string;
  #index: StoredIndex | undefined;

  constructor(name: string, index: StoredIndex, length: number) {
    this.#name = name;
    this.#index = index;
    this.length = length;
  }

  read(from: number, to: number): Promise<LogPart> {
    return this.#required().readPart({ from, to });
  }

  readSync(from: number, to: number): LogPart {
    return this.#required().readPartSync({ from, to });
  }

  /** Once the log was set back: what was not read is not asked of the one that it is now. */
  end(): void {
    this.#index = undefined;
  }

  #required(): StoredIndex {
    if (this.#index === undefined) throw storedLogError("gone", this.#name);
    return this.#index;
  }
}

function* replicateWhole(
  stored: StoredLog,
  ports: PrivatePorts,
  opened: OpenedLog | undefined,
): Steps<Replica> {
  const end = opened?.end ?? (yield* endOf(stored));
  if (end === undefined) throw storedLogError("missing", stored.name);
  const file = new AtomicFile(ports, stored.address);
  let position: StoredPosition = { ...end, at: 0 };
  const keep = (bytes: Buffer): void => {
    file.add(bytes);
    position = { ...position, at: position.at + bytes.length };
  };
  try {
    for (const bytes of opened?.pieces ?? []) keep(bytes);
    if (opened === undefined || position.at < end.at) yield* fetched(stored, position, keep);
    file.replace();
  } finally {
    file.discard();
  }
  return { stored, ports, position };
}

export function endOf(stored: StoredLog): Steps<StoredPosition | undefined> {
  return io((signal) => stored.end(signal));
}

export function fetched(
  stored: StoredLog,
  from: StoredPosition,
  keep: (bytes: Buffer) => void,
): Steps<void> {
  return eachPiece((signal) => stored.read(from, signal), keep);
}
