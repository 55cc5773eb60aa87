/** The thread that waits for PostgreSQL on behalf of one that cannot; see `worker-calls`. */
import { parentPort, workerData } from "node:worker_threads";
import { isBranchlogError } from "@branchlog/core";
import type { StoredFacts, StoredIndex, StoredLog, StoredPosition } from "@branchlog/core/types";
import type { Answer } from "@branchlog/streaming";
import type { PostgresStore } from "./postgres-store.ts";
import { answersAt, asBuffer, beatAt, beatMs } from "./worker-calls.ts";
import type {
  NumberedAnswer,
  LogInWorker,
  ReadPiece,
  WorkerAnswer,
  WorkerCall,
  WorkerMethods,
  WorkerSetting,
} from "./worker-calls.ts";

/** More than this is asked for again. */
const pieceBytes = 4 * 1024 * 1024;

// Made by the constructor of WorkerCalls.
const { port, state } = workerData as WorkerSetting;
const stores = new Map<string, PostgresStore>();
const logs = new Map<number, StoredLog>();
const watched = new Map<number, () => void>();
let opened = 0;

port.on("message", (call: WorkerCall) => {
  const beat = setInterval(() => Atomics.add(state, beatAt, 1), beatMs);
  void answer(call).then((answered) => {
    clearInterval(beat);
    const numbered: NumberedAnswer = { number: call.number, answer: answered };
    port.postMessage(numbered);
    Atomics.add(state, answersAt, 1);
    Atomics.notify(state, answersAt);
  });
});

async function answer({ method, asked }: WorkerCall): Promise<WorkerAnswer> {
  try {
    // Decoding boundary: WorkerCalls asks for what the method takes.
    const carryOut = methods[method] as (...given: readonly unknown[]) => unknown;
    return { value: await carryOut(...asked) };
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    return { error: isBranchlogError(error) ? { code: error.code, message } : { message } };
  }
}

const methods: {
  readonly [Method in keyof WorkerMethods]: (
    ...asked: Parameters<WorkerMethods[Method]>
  ) => Answer<ReturnType<WorkerMethods[Method]>>;
} = {
  open: async (store, name) => keep(await (await storeAt(store)).open(name)),
  create: async (store, name, bytes) => {
    await (await storeAt(store)).create(name, [asBuffer(bytes)]);
  },
  replace: async (store, name, expected, bytes) =>
    (await storeAt(store)).replace(name, expected, bytes && asBuffer(bytes)),
  list: async (store) => listed(await storeAt(store)),
  end: (log) => logAt(log).end(),
  read: (log, from) => readPiece(logAt(log), from),
  append: (log, expected, bytes) => logAt(log).append(expected, asBuffer(bytes)),
  flush: (log, until) => logAt(log).flush?.(until) ?? true,
  readPart: (log, range) => indexAt(log).readPart(range),
  readPartOf: async (store, log, known, range) =>
    (await storeAt(store)).readPart(log, known, range),
  readIndex: (log) => collectedPieces(indexAt(log).read()),
  indexPosition: (log) => indexAt(log).position(),
  saveIndex: (log, position, pieces) => indexAt(log).save(position, pieces.map(asBuffer)),
  reportLost: (log, lines) => logAt(log).reportLost?.(lines),
  watch: (log) => {
    const onHint = (): void => parentPort?.postMessage(log, []);
    watched.set(log, logAt(log).watch(onHint));
  },
  unwatch: (log) => {
    watched.get(log)?.();
    watched.delete(log);
  },
  forget: (log) => {
    logs.delete(log);
  },
};

/** Loaded at the first call, so that a library that is missing is an answer. */
async function storeAt(address: string): Promise<PostgresStore> {
  const { postgresStore } = await import("./postgres-store.ts");
  const store = stores.get(address) ?? postgresStore(address);
  stores.set(address, store);
  return store;
}

function keep(log: StoredLog): LogInWorker {
  opened += 1;
  logs.set(opened, log);
  return { log: opened, address: log.address, opened: log.takeOpened?.() };
}

function logAt(number: number): StoredLog {
  const log = logs.get(number);
  if (log === undefined) throw new Error(`there is no log ${number} in the worker`);
  return log;
}

function indexAt(number: number): StoredIndex {
  const { index } = logAt(number);
  if (index === undefined) throw new Error(`the log ${number} in the worker has no index`);
  return index;
}

async function collectedPieces(
  pieces: AsyncIterable<Buffer> | Iterable<Buffer>,
): Promise<readonly Buffer[]> {
  const all: Buffer[] = [];
  for await (const piece of pieces) all.push(piece);
  return all;
}

async function listed(store: PostgresStore): Promise<readonly StoredFacts[]> {
  const all: StoredFacts[] = [];
  for await (const session of store.list()) all.push(session);
  return all;
}

async function readPiece(log: StoredLog, from: StoredPosition): Promise<ReadPiece> {
  const pieces: Buffer[] = [];
  let sizeBytes = 0;
  for await (const piece of log.read(from)) {
    pieces.push(piece);
    sizeBytes += piece.length;
    if (sizeBytes >= pieceBytes) return { bytes: Buffer.concat(pieces), isLast: false };
  }
  return { bytes: Buffer.concat(pieces), isLast: true };
}
