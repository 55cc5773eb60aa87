/** The thread that waits for PostgreSQL in the place of one that cannot; see `worker-calls`. */
import { parentPort, workerData } from "node:worker_threads";
import { isBranchlogError } from "@branchlog/core";
import type { StoredFacts, StoredLog, StoredPosition } from "@branchlog/core/types";
import type { PostgresStore } from "./postgres-store.ts";
import { answersAt, asBuffer, beatAt, beatMs } from "./worker-calls.ts";
import type {
  NumberedAnswer,
  LogInWorker,
  ReadPiece,
  StoreAnswer,
  StoreCall,
  StoreCalls,
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

port.on("message", (call: StoreCall) => {
  const beat = setInterval(() => Atomics.add(state, beatAt, 1), beatMs);
  void answer(call).then((answered) => {
    clearInterval(beat);
    const numbered: NumberedAnswer = { number: call.number, answer: answered };
    port.postMessage(numbered);
    Atomics.add(state, answersAt, 1);
    Atomics.notify(state, answersAt);
  });
});

async function answer(call: StoreCall): Promise<StoreAnswer> {
  try {
    return { value: await carriedOut(call) };
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    return { error: isBranchlogError(error) ? { code: error.code, message } : { message } };
  }
}

async function carriedOut(call: StoreCall): Promise<StoreCalls[keyof StoreCalls]["answers"]> {
  switch (call.kind) {
    case "open":
      return keep(await (await storeAt(call.store)).open(call.name));
    case "create":
      await (await storeAt(call.store)).create(call.name, [asBuffer(call.bytes)]);
      return undefined;
    case "list":
      return listed(await storeAt(call.store));
    case "end":
      return logAt(call.log).end();
    case "read":
      return readPiece(logAt(call.log), call.from);
    case "append":
      return logAt(call.log).append(call.expected, asBuffer(call.bytes));
    case "flush":
      return (await logAt(call.log).flush?.(call.until)) ?? true;
    case "reportLost":
      await logAt(call.log).reportLost?.(call.lines);
      return undefined;
    case "watch":
      watched.set(
        call.log,
        logAt(call.log).watch(() => parentPort?.postMessage(call.log, [])),
      );
      return undefined;
    case "unwatch":
      watched.get(call.log)?.();
      watched.delete(call.log);
      return undefined;
    case "forget":
      logs.delete(call.log);
      return undefined;
  }
}

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
