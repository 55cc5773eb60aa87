/**
 * The checksums that go into the checkpoints of one log: those of an earlier checkpoint, and those
 * of what came after it, for which the log is read once more. Of what an earlier one has seen,
 * nothing is forgotten, also when its index was of no use: a log that differs from its checksums in
 * a few places keeps them, so that `verify` keeps finding these.
 */
import { checkpointPath, loadSumsSync } from "../checkpoint/checkpoint-file.ts";
import { SumBuilder, compareSums, sumsSchema, trimmed } from "../checkpoint/record-sums.ts";
import type { RecordSums, SumComparison } from "../checkpoint/record-sums.ts";
import type { IndexedHeader } from "../index-table/log-indexer.ts";
import type { FileStat } from "../store/ports.ts";
import type { EngineSettings } from "./engine-options.ts";
import type { LogState } from "./log-state.ts";

/** Where checkpoints are. */
export type SumSettings = Pick<EngineSettings, "checkpointDir" | "ports">;

/** How far checksums are taken. */
export interface SumTask {
  readonly state: LogState;
  /** Whether the checkpoint that lies there is one of this state: then its checksums hold. */
  readonly isKnown: boolean;
  /** Asked after each megabyte: whether to stop, and leave the rest for another time. */
  readonly isOver: () => boolean;
}

/** See the file comment. */
export class LogSums {
  readonly #settings: SumSettings;
  #unfinished: { readonly state: LogState; readonly builder: SumBuilder } | undefined;

  constructor(settings: SumSettings) {
    this.#settings = settings;
  }

  /**
   * Takes what is missing, pausing after each megabyte. Undefined if the log ends within a line, or
   * is not what was read. Throws what reading throws.
   */
  *computeMissing({
    state,
    isKnown,
    isOver,
  }: SumTask): Generator<void, RecordSums | undefined, undefined> {
    const saved = state.save();
    const { header, index, lines } = state.indexer;
    const stat = state.file.statSync();
    if (saved === null || header === undefined || stat === null) return undefined;
    if (!state.file.isAt(stat)) return undefined;
    if (this.#unfinished?.state !== state) {
      const earlier = savedSums(this.#settings, state.file.path, stat);
      const isCompared = isKnown && earlier?.isConfirmed === true;
      const verdict = isCompared ? "same" : yield* comparing(state, earlier, isOver);
      // There is no time now to see whether they are to be kept.
      if (earlier !== undefined && verdict === undefined) return unconfirmed(earlier);
      const kept = verdict === "rewritten" ? undefined : earlier;
      const sums = kept === undefined ? noSums(stat, header) : { ...kept, isConfirmed: true };
      this.#unfinished = { state, builder: new SumBuilder(sums) };
    }
    const { builder } = this.#unfinished;
    const { end, lineNumber: nextLine } = saved;
    const log = { source: state.file, rows: index.rows, lines, end, nextLine };
    const steps = builder.extend(log);
    while (!isOver() && steps.next().done !== true) yield;
    return trimmed(builder.sums);
  }

  /** They are saved, and will be read again when there are more to come. */
  forget(): void {
    this.#unfinished = undefined;
  }
}

/** The checksums of the log that has `stat`, if they lie beside it. Throws nothing. */
export function savedSums(
  { checkpointDir, ports }: SumSettings,
  path: string,
  stat: FileStat,
): RecordSums | undefined {
  return loadSumsSync(ports.fs, checkpointPath(path, checkpointDir), sumsSchema(stat));
}

/** Undefined if it was stopped. */
function* comparing(
  state: LogState,
  sums: RecordSums | undefined,
  isOver: () => boolean,
): Generator<void, SumComparison["verdict"] | undefined, undefined> {
  if (sums === undefined) return "rewritten";
  const steps = compareSums(state.file, sums, 0);
  while (!isOver()) {
    const step = steps.next();
    if (step.done === true) return step.value.verdict;
    yield;
  }
  return undefined;
}

function unconfirmed(sums: RecordSums): RecordSums {
  return trimmed({ ...sums, isConfirmed: false });
}

function noSums({ dev, ino }: FileStat, header: IndexedHeader): RecordSums {
  const { offset, lineNumber, version } = header;
  return {
    dev,
    ino,
    logVersion: version,
    isConfirmed: true,
    start: offset,
    end: offset,
    firstLine: lineNumber,
    nextLine: lineNumber,
    count: 0,
    lengths: new Uint32Array(0),
    sums: new Uint32Array(0),
    gapCount: 0,
    gaps: new Uint32Array(0),
    gapLines: new Uint32Array(0),
  };
}
