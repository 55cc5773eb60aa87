/**
 * Saves the checkpoint of one log once the log has grown far enough past the last one, or much of
 * what that covers was read whole: in pieces while the process is idle, or when the session is
 * closed or the process exits. A failed save is not reported; it costs time at the next open.
 */
import { pause, runAsync, runSync } from "@branchlog/streaming";
import type { Steps } from "@branchlog/streaming";
import {
  beginCheckpoint,
  checkpointPath,
  loadPages,
  removeOrphanCheckpoints,
} from "../checkpoint/checkpoint-file.ts";
import { bytesOfPieces, checkpointKind } from "../checkpoint/page-file.ts";
import type { PageFile } from "../checkpoint/page-file.ts";
import { SumBuilder, compareSums } from "../checkpoint/log-sums.ts";
import type { LogSums, SumComparison } from "../checkpoint/log-sums.ts";
import type { IndexedHeader } from "../index-table/transcript-indexer.ts";
import {
  checkpointIdleMs,
  checkpointReadShare,
  closingSumsMsMax,
  exitSumsShare,
  exitWorkMsMax,
} from "../limits.ts";
import { inLargeChunks } from "../platform/atomic-file.ts";
import type { AtomicFile } from "../platform/atomic-file.ts";
import { transcriptFormats } from "../dialects/agent.ts";
import {
  cachedCheckpoints,
  makeCacheDirectory,
  removeOldFiles,
} from "../platform/cache-directory.ts";
import { retainedBy } from "../platform/descriptor-pool.ts";
import type { FileStat } from "../platform/ports.ts";
import type { ChangeSignal } from "./change-signal.ts";
import type { EngineSettings } from "./engine-options.ts";
import { readCheckpoint, readSums, statePieces, sumsEndOf } from "./log-checkpoint.ts";
import type { FoundCheckpoint } from "./log-checkpoint.ts";
import type { LogState } from "./log-state.ts";
import type { StateRestorer, TrackedLog } from "./tracked-log.ts";

type CheckpointSettings = Pick<
  EngineSettings,
  "access" | "checkpoint" | "checkpointDir" | "checkpointEveryBytes" | "ports"
>;

export interface SavedWork {
  readonly end: number;
  readonly sumsEnd: number;
  /** Bodies that this process had read: to confirm them, and to fold the usage. */
  readonly confirmedBytes: number;
  readonly foldedBytes: number;
}

export const noWork: SavedWork = { end: 0, sumsEnd: 0, confirmedBytes: 0, foldedBytes: 0 };

/** Saves and restores the index of one log. */
export interface CheckpointKeeper extends StateRestorer {
  /** To be called after anything that may be worth saving. */
  progressed(): void;
  /** Saves if due, in pieces; abandoned if anything changes meanwhile. Never rejects. */
  save(): Promise<void>;
  /** The same, blocking, where the log can. Never throws. */
  saveSync(sumsMsMax?: number): void;
  /** Saves a last time. */
  close(): Promise<void>;
  /** Closes the file that pages are read from; it is opened again for each. */
  release(): void;
}

export class Checkpoints implements CheckpointKeeper {
  readonly #settings: CheckpointSettings;
  readonly #log: Pick<TrackedLog, "path" | "state">;
  readonly #changes: ChangeSignal;
  readonly #sums: SumKeeper;
  #saved: (SavedWork & { readonly state: LogState }) | undefined;
  #isScheduled = false;
  #isClosed = false;
  #hasFailed = false;
  #write: AtomicFile | undefined;
  #attempts = 0;
  #stopAtExit: (() => void) | undefined;
  /** Of the checkpoint whose pages are still needed. */
  #release: () => void = () => undefined;

  constructor(
    settings: CheckpointSettings,
    log: Pick<TrackedLog, "path" | "state">,
    changes: ChangeSignal,
  ) {
    this.#settings = settings;
    this.#log = log;
    this.#changes = changes;
    this.#sums = new SumKeeper(settings);
  }

  *restore(makeState: () => LogState, stat: FileStat): Steps<LogState> {
    const { checkpoint, ports } = this.#settings;
    const state = makeState();
    if (checkpoint === "off") return state;
    const read = (file: PageFile): FoundCheckpoint => readCheckpoint(state, stat, file);
    for (const path of checkpointPlaces(this.#settings, this.#log.path, stat)) {
      this.#release();
      this.#release = retainedBy(this, ports.fs, path);
      const found = yield* loadPages(ports.fs, path, checkpointKind, read);
      if (found !== undefined) return this.#restored(makeState, state, found);
    }
    this.#release();
    return state;
  }

  progressed(): void {
    if (this.#isScheduled || this.#isClosed || !this.#isDue) return;
    this.#isScheduled = true;
    // Keeps this object reachable until then, even if its owner is not.
    this.#stopAtExit ??= atExit((msLeft) => this.saveSync(msLeft * exitSumsShare));
    const { version } = this.#changes;
    setTimeout(() => void this.#saveIfIdle(version), checkpointIdleMs).unref();
  }

  /** Saves if due, spending at most `sumsMsMax` on checksums. Never throws. */
  saveSync(sumsMsMax: number = Number.POSITIVE_INFINITY): void {
    runSync(this.#saving(sumsMsMax));
  }

  /** As `saveSync`, in pieces; abandoned if anything changes meanwhile. */
  async save(sumsMsMax: number = Number.POSITIVE_INFINITY): Promise<void> {
    await runAsync(this.#saving(sumsMsMax));
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.save(closingSumsMsMax);
    this.#leaveExit();
    this.release();
  }

  release(): void {
    this.#release();
  }

  /** A busy process is not interrupted: the close, or the exit, saves. */
  async #saveIfIdle(version: number): Promise<void> {
    this.#isScheduled = false;
    // Another attempt would end that of the close.
    if (this.#isClosed) return;
    if (version === this.#changes.version) {
      await this.save();
      if (version === this.#changes.version) return this.#leaveExit();
    }
    this.progressed();
  }

  #leaveExit(): void {
    this.#stopAtExit?.();
    this.#stopAtExit = undefined;
  }

  /** Undefined: next to the log. Nothing is written next to the files of other agents. */
  get #directory(): string | undefined {
    const { checkpointDir } = this.#settings;
    return checkpointDir ?? (isTranscript(this.#log.state) ? cachedCheckpoints() : undefined);
  }

  get #isDue(): boolean {
    const { access, checkpoint, checkpointEveryBytes } = this.#settings;
    const isSaving = checkpoint === "auto" || checkpoint === "index";
    if (!isSaving || access === "read" || this.#hasFailed) return false;
    const { state } = this.#log;
    const saved = (this.#isSaved ? this.#saved : undefined) ?? noWork;
    const savedEnd = this.#savesSums ? Math.min(saved.end, saved.sumsEnd) : saved.end;
    if (state.end - savedEnd >= checkpointEveryBytes) return true;
    const { confirmedBytes, foldedBytes } = workOf(state, saved.sumsEnd);
    const readBytes = Math.max(
      confirmedBytes - saved.confirmedBytes,
      foldedBytes - saved.foldedBytes,
    );
    return readBytes >= Math.max(checkpointEveryBytes, state.end * checkpointReadShare);
  }

  /** Only sessions have them: a transcript is another agent's to keep whole. */
  get #savesSums(): boolean {
    return this.#settings.checkpoint === "auto" && !isTranscript(this.#log.state);
  }

  get #isSaved(): boolean {
    return this.#saved?.state === this.#log.state;
  }

  #restored(makeState: () => LogState, state: LogState, found: FoundCheckpoint): LogState {
    try {
      state.restore(found.checkpoint.state, found.header, found.bytes);
      this.#saved = { state, ...workOf(state, found.checkpoint.sumsEnd) };
      return state;
    } catch {
      // A partially restored state is unusable.
      return makeState();
    }
  }

  /** Pauses between the pieces; ends without a checkpoint if anything changed meanwhile. */
  *#saving(sumsMsMax: number): Steps<void> {
    if (!this.#isDue) return;
    this.#abandon();
    const { state } = this.#log;
    const { ports, checkpointDir } = this.#settings;
    const directory = this.#directory;
    const { version } = this.#changes;
    const attempt = (this.#attempts += 1);
    const isStale = (): boolean => this.#changes.version !== version || this.#attempts !== attempt;
    try {
      const taking = this.#takingSums(state, sumsMsMax);
      let taken = taking.next(0);
      for (; taken.done !== true; taken = taking.next(0)) {
        yield pause;
        if (isStale()) return;
      }
      const work = workOf(state, sumsEndOf(taken.value));
      const pieces = statePieces(state, taken.value);
      if (pieces === null) return;
      const chunks = inLargeChunks(bytesOfPieces(pieces));
      // One that was given is to exist.
      if (directory !== checkpointDir) makeCacheDirectory(ports, cachedCheckpoints());
      const write = beginCheckpoint(ports, checkpointPath(this.#log.path, directory));
      this.#write = write;
      for (const chunk of chunks) {
        write.add(chunk);
        yield pause;
        if (isStale()) return;
      }
      write.close();
      write.replace();
      this.#saved = { state, ...work };
      this.#sums.forget();
      yield pause;
      // Orphans next to their logs are removed when the directory is listed.
      if (directory === undefined) return;
      removeOrphanCheckpoints(ports, this.#log.path, directory);
      if (directory !== checkpointDir) removeOldFiles(ports, directory);
    } catch {
      this.#hasFailed = true;
    } finally {
      // Another attempt may have begun while this one paused.
      if (this.#attempts === attempt) this.#abandon();
    }
  }

  #takingSums(state: LogState, msMax: number): Steps<LogSums | undefined> {
    const { clock } = this.#settings.ports;
    const endMs = clock.monotonicMs() + (this.#savesSums ? msMax : 0);
    const isOver = (): boolean => clock.monotonicMs() >= endMs;
    return this.#sums.computeMissing(state, this.#isSaved, isOver);
  }

  #abandon(): void {
    this.#write?.discard();
    this.#write = undefined;
  }
}

/** Where a checkpoint of the log at a path may be. */
export function checkpointPlaces(
  {
    checkpointDir,
    checkpointEveryBytes,
  }: Pick<CheckpointSettings, "checkpointDir" | "checkpointEveryBytes">,
  path: string,
  { size }: FileStat,
): readonly string[] {
  const place = checkpointPath(path, checkpointDir);
  // Its agent is unknown before it is read.
  const mayBeCached =
    checkpointDir === undefined && size >= checkpointEveryBytes && transcriptFormats().length > 0;
  return mayBeCached ? [place, checkpointPath(path, cachedCheckpoints())] : [place];
}

function isTranscript({ indexer }: LogState): boolean {
  return indexer.transcript !== undefined;
}

export function workOf({ bodies, end, folded, index }: LogState, sumsEnd: number): SavedWork {
  const { rows } = folded.usage;
  const foldedBytes = rows === 0 ? 0 : index.rows.offset(rows - 1);
  return { end, sumsEnd, confirmedBytes: bodies.confirmedBytes, foldedBytes };
}

const works = new Set<(msLeft: number) => void>();
let isListening = false;

/**
 * Runs `work`, which must not throw, with the time left for it. Returns a function that cancels.
 */
function atExit(work: (msLeft: number) => void): () => void {
  const own = (msLeft: number): void => work(msLeft);
  works.add(own);
  if (!isListening) process.once("exit", doAll);
  isListening = true;
  return () => {
    works.delete(own);
  };
}

function doAll(): void {
  const startMs = performance.now();
  for (const work of works) {
    const msLeft = startMs + exitWorkMsMax - performance.now();
    if (msLeft < 0) return;
    work(msLeft);
  }
}

export type SumSettings = Pick<EngineSettings, "checkpointDir" | "ports">;

/**
 * The log is read once more for checksums of appended bytes. A log that differs from its checksums
 * in a few places keeps them, so that `verify` still finds these.
 */
export class SumKeeper {
  readonly #settings: SumSettings;
  #unfinished: { readonly state: LogState; readonly builder: SumBuilder } | undefined;

  constructor(settings: SumSettings) {
    this.#settings = settings;
  }

  /**
   * Pauses after each megabyte, and checks then whether to leave the rest for later. Undefined if
   * the log is not the one that was read. Checksums that are known hold.
   */
  *computeMissing(
    state: LogState,
    isKnown: boolean,
    isOver: () => boolean,
  ): Steps<LogSums | undefined> {
    const saved = isTranscript(state) ? null : state.save();
    const { header } = state.indexer;
    const stat = state.file.statSync();
    if (saved === null || header === undefined || stat === null) return undefined;
    if (!state.file.isAt(stat)) return undefined;
    if (this.#unfinished?.state !== state) {
      const earlier = savedSums(this.#settings, state.file.path, stat);
      const isCompared = isKnown && earlier?.isConfirmed === true;
      const verdict = isCompared ? "same" : yield* comparing(state, earlier, isOver);
      if (earlier !== undefined && verdict === undefined) {
        return { ...earlier, isConfirmed: false };
      }
      const kept = verdict === "rewritten" ? undefined : earlier;
      const sums = kept === undefined ? noSums(stat, header) : { ...kept, isConfirmed: true };
      this.#unfinished = { state, builder: new SumBuilder(sums) };
    }
    const { builder } = this.#unfinished;
    const steps = builder.extend(state.file, saved.end);
    while (!isOver() && steps.next(0).done !== true) yield pause;
    return builder.sums;
  }

  forget(): void {
    this.#unfinished = undefined;
  }
}

export function savedSums(
  { checkpointDir, ports }: SumSettings,
  path: string,
  stat: FileStat,
): LogSums | undefined {
  const read = (file: PageFile): LogSums | undefined => readSums(stat, file);
  return runSync(loadPages(ports.fs, checkpointPath(path, checkpointDir), checkpointKind, read));
}

function* comparing(
  state: LogState,
  sums: LogSums | undefined,
  isOver: () => boolean,
): Steps<SumComparison["verdict"] | undefined> {
  if (sums === undefined) return "rewritten";
  const steps = compareSums(state.file, sums, 0);
  while (!isOver()) {
    const step = steps.next(0);
    if (step.done === true) return step.value.verdict;
    yield pause;
  }
  return undefined;
}

function noSums({ dev, ino }: FileStat, { offset, version }: IndexedHeader): LogSums {
  const nothing = { start: offset, end: offset, sums: new Uint32Array(0) };
  return { dev, ino, logVersion: version, isConfirmed: true, ...nothing };
}
