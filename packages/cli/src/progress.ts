/**
 * Shows progress, with its rate and the time left, on one line of a terminal, which is
 * erased at the end. Never with `--json`.
 */
import { statSync } from "node:fs";
import { basename } from "node:path";
import { readCounter } from "@branchlog/streaming";
import type { CommandIo } from "./command-io.ts";
import { paceOf, recentSamples } from "./progress-pace.ts";
import type { Sample } from "./progress-pace.ts";
import { progressText } from "./text/progress-text.ts";
import type { ShownProgress } from "./text/progress-text.ts";

/** Also before the first line: shorter work shows none. */
const intervalMs = 100;

/** Without the last two nothing is shown. */
export type ProgressIo = Pick<CommandIo, "monotonicMs"> &
  Partial<Pick<CommandIo, "err" | "showsProgress">>;

export interface ReadingTask {
  readonly what: string;
  readonly path: string;
  /** The number of bytes that the work reads. */
  readonly bytes: number;
}

export async function withProgress<T>(
  io: ProgressIo,
  { what, path, bytes }: ReadingTask,
  work: () => Promise<T>,
): Promise<T> {
  const line = new ProgressLine(io, `${what} ${basename(path)}`, "bytes");
  if (!line.isWanted) return work();
  const start = readCounter.bytes;
  const timer = setInterval(() => line.show(readCounter.bytes - start, bytes), intervalMs);
  return line.during(() => work().finally(() => clearInterval(timer)));
}

/** 0 if the file does not exist. */
export function sizeOf(path: string): number {
  try {
    return statSync(path).size;
  } catch {
    // The read itself reports the error.
    return 0;
  }
}

export class ProgressLine {
  /** Whether anything is shown at all. */
  readonly isWanted: boolean;
  readonly #io: ProgressIo;
  readonly #work: Pick<ShownProgress, "what" | "unit">;
  #samples: readonly Sample[];
  #shownMs: number;
  #isShown = false;

  constructor(io: ProgressIo, what: string, unit: ShownProgress["unit"]) {
    this.isWanted = io.err?.isTerminal === true && io.showsProgress !== undefined;
    this.#io = io;
    this.#work = { what, unit };
    this.#shownMs = io.monotonicMs();
    this.#samples = [{ ms: this.#shownMs, done: 0 }];
  }

  /** Hides it at the end of the work. */
  async during<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } finally {
      await this.hide();
    }
  }

  /** May be called at any rate. */
  show(done: number, total: number): void {
    const { err, showsProgress } = this.#io;
    if (!this.isWanted || err === undefined || showsProgress?.() !== true) return;
    const ms = this.#io.monotonicMs();
    if (ms - this.#shownMs < intervalMs) return;
    this.#shownMs = ms;
    this.#samples = recentSamples(this.#samples, { ms, done });
    const pace = paceOf(this.#samples, total);
    this.#isShown = true;
    const text = progressText({ ...this.#work, done, total, pace }, err.columns);
    // A closed terminal must not end the work.
    void err.showStatus(text).catch(() => undefined);
  }

  /** To be called before anything else is written. */
  async hide(): Promise<void> {
    if (!this.#isShown) return;
    this.#isShown = false;
    await this.#io.err?.showStatus("").catch(() => undefined);
  }
}
