/**
 * The checkpoint of a log in a store: saved there, next to the log, and for a session copied into a
 * private file of its own. The store tells which log it is of. A failed save is not reported.
 */
import { io, pause, runAsync, runSync } from "@branchlog/streaming";
import type { Steps } from "@branchlog/streaming";
import { checkpointPath, loadPages } from "../checkpoint/checkpoint-file.ts";
import { Unpacker, packed } from "../checkpoint/packed-pieces.ts";
import { checkpointKind } from "../checkpoint/page-file.ts";
import {
  checkpointIdleMs,
  checkpointReadShare,
  indexSaveMsMax,
  storedGrowthShare,
} from "../limits.ts";
import { AtomicFile } from "../platform/atomic-file.ts";
import type { FileStat, Ports } from "../platform/ports.ts";
import type { StoredIndex, StoredLog } from "../store/log-store.ts";
import type { ChangeSignal } from "./change-signal.ts";
import { noWork, workOf } from "./checkpoints.ts";
import type { CheckpointKeeper, SavedWork } from "./checkpoints.ts";
import type { EngineSettings } from "./engine-options.ts";
import { eachPiece } from "./fetched-pieces.ts";
import { readCheckpoint, storedStatePieces } from "./log-checkpoint.ts";
import type { LogState } from "./log-state.ts";
import type { TrackedLog } from "./tracked-log.ts";

/** Copies what the store has into a file next to that of the log. False: it is damaged. */
export function* fetchCheckpoint(
  stored: StoredLog,
  index: StoredIndex,
  ports: Ports,
): Steps<boolean> {
  const file = new AtomicFile(ports, checkpointPath(stored.address, undefined));
  const unpacker = new Unpacker();
  let isWhole = true;
  try {
    yield* eachPiece(
      (signal) => index.read(signal),
      (buffer) => {
        try {
          if (isWhole) for (const bytes of unpacker.add(buffer)) file.add(bytes);
        } catch {
          isWhole = false;
        }
      },
    );
    if (!isWhole || !unpacker.isOver) return false;
    file.close();
    file.replace();
    return true;
  } finally {
    file.discard();
  }
}

type Settings = Pick<EngineSettings, "access" | "checkpointEveryBytes" | "ports">;

export class StoredCheckpoint implements CheckpointKeeper {
  readonly #settings: Settings;
  readonly #log: Pick<TrackedLog, "isSettled" | "path" | "state">;
  readonly #index: StoredIndex;
  readonly #changes: ChangeSignal;
  /** How far the one that was fetched covers the log; undefined: there is none. */
  readonly #fetchedTo: number | undefined;
  #saved: (SavedWork & { readonly state: LogState }) | undefined;
  #isScheduled = false;
  #isClosed = false;
  #hasFailed = false;
  #saving: Promise<void> | undefined;

  constructor(
    settings: Settings,
    log: Pick<TrackedLog, "isSettled" | "path" | "state">,
    changes: ChangeSignal,
    { index, fetchedTo }: { readonly index: StoredIndex; readonly fetchedTo: number | undefined },
  ) {
    this.#settings = settings;
    this.#log = log;
    this.#changes = changes;
    this.#index = index;
    this.#fetchedTo = fetchedTo;
  }

  *restore(makeState: () => LogState, stat: FileStat): Steps<LogState> {
    const state = makeState();
    const storedEnd = this.#fetchedTo;
    if (storedEnd === undefined) return state;
    const { file, lineBytesMax } = state;
    const path = checkpointPath(this.#log.path, undefined);
    const found = yield* loadPages(this.#settings.ports.fs, path, checkpointKind, (pages) =>
      readCheckpoint({ file, lineBytesMax, storedEnd }, stat, pages),
    );
    if (found === undefined) return state;
    try {
      state.restore(found.checkpoint.state, found.header, found.bytes);
      this.#saved = { state, ...workOf(state, 0) };
      return state;
    } catch {
      // A partially restored state is unusable.
      return makeState();
    }
  }

  progressed(): void {
    if (this.#isScheduled || this.#isClosed || !this.#isDue) return;
    this.#isScheduled = true;
    const { version } = this.#changes;
    setTimeout(() => void this.#saveIfIdle(version), checkpointIdleMs).unref();
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.save();
  }

  release(): void {
    // Its file is private, and has no name that others use.
  }

  saveSync(): void {
    try {
      runSync(this.#saveSteps());
    } catch {
      this.#hasFailed = true;
    }
  }

  async #saveIfIdle(version: number): Promise<void> {
    this.#isScheduled = false;
    if (this.#isClosed) return;
    if (version === this.#changes.version) await this.save();
    this.progressed();
  }

  async save(): Promise<void> {
    await this.#saving;
    this.#saving = runAsync(this.#saveSteps(), AbortSignal.timeout(indexSaveMsMax)).catch(() => {
      this.#hasFailed = true;
    });
    await this.#saving;
  }

  get #isDue(): boolean {
    const { access, checkpointEveryBytes } = this.#settings;
    if (access === "read" || this.#hasFailed) return false;
    const { state } = this.#log;
    const saved = this.#saved?.state === state ? this.#saved : noWork;
    const { end, foldedBytes } = workOf(state, 0);
    const isDue = (bytes: number, share: number): boolean =>
      bytes >= Math.max(checkpointEveryBytes, end * share);
    return (
      isDue(end - saved.end, storedGrowthShare) ||
      isDue(foldedBytes - saved.foldedBytes, checkpointReadShare)
    );
  }

  /** Pauses between the pieces; ends without a checkpoint if anything changed meanwhile. */
  *#saveSteps(): Steps<void> {
    // The store's end is that of this state only between two turns of the log.
    if (!this.#isDue || !this.#log.isSettled) return;
    const { state } = this.#log;
    const { version } = this.#changes;
    const work = workOf(state, 0);
    const position = yield* io(() => this.#index.position());
    if (!this.#log.isSettled || this.#changes.version !== version) return;
    const pieces = storedStatePieces(state, position.at);
    if (pieces === null) return;
    const buffers: Buffer[] = [];
    for (const buffer of packed(pieces)) {
      buffers.push(buffer);
      yield pause;
      if (this.#changes.version !== version) return;
    }
    // What is appended from here on is after it.
    yield* io((signal) => this.#index.save(position, buffers, signal));
    this.#saved = { state, ...work };
  }
}
