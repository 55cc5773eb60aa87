/**
 * A transcript in a file. Batches are committed as entries of a session are: in one write, under
 * the lock of the file, verified. An append that has returned survives the death of the process.
 */
import { createHash } from "node:crypto";
import { setImmediate as nextIteration } from "node:timers/promises";
import { runAsync } from "@branchlog/streaming";
import { isBranchlogError } from "@branchlog/core";
import { LinesFile } from "@branchlog/core/engine";
import type { PlannedLine } from "@branchlog/core/engine";
import { LogFile, createStreamedLog, fingerprintOf } from "@branchlog/core/files";
import { inBatches, requireOwnPlace } from "@branchlog/core/files";
import type { EngineSettings } from "@branchlog/core/files";
import type { FileStat } from "@branchlog/core/types";
import { TranscriptLines } from "./transcript-lines.ts";
import type { Batch } from "./transcript-lines.ts";
import type { ReadTranscript, Transcript, TranscriptPlace } from "./transcripts.ts";

const chunkBytes = 1024 * 1024;

export class TranscriptFile implements Transcript {
  readonly #settings: EngineSettings;
  readonly #file: LinesFile<TranscriptLines>;

  constructor(path: string, settings: EngineSettings) {
    this.#settings = settings;
    this.#file = new LinesFile(path, settings, new TranscriptLines(), (_stat, isAnother) => {
      const { batch } = this.#file.lines;
      if (isAnother) batch?.forget(false);
      const lines = new TranscriptLines();
      lines.batch = batch;
      return lines;
    });
  }

  async append(batch: Batch): Promise<void> {
    const { ports } = this.#settings;
    const file = this.#file;
    // Claude Code writes to its own by itself.
    if (!file.isKnown) requireOwnPlace(ports.fs, file.path);
    if (file.statSync() === null) {
      const lines = new TranscriptLines()
        .missing(batch)
        .flatMap((at) => batch.lines[at]?.line ?? []);
      try {
        batch.begin();
        return await createStreamedLog(ports, file.path, inBatches(lines));
      } catch (error) {
        if (!isBranchlogError(error, "ERR_LOG_EXISTS")) throw error;
        // Another process was faster: its lines are not of this batch.
        batch.forget(false);
      }
    }
    file.lines.batch = batch;
    // A long rest is read before the lock is held.
    while (file.readOn()) await nextIteration();
    await runAsync(file.append("A batch", () => this.#planned(batch), "immediate"));
  }

  #planned(batch: Batch): readonly PlannedLine[] {
    const missing = this.#file.lines.missing(batch);
    batch.begin();
    return missing.flatMap((at) => {
      const line = batch.lines[at]?.line;
      return line === undefined ? [] : [{ id: String(at), line }];
    });
  }

  async read(since?: TranscriptPlace): Promise<ReadTranscript | undefined> {
    const file = new LogFile(this.#settings.ports.fs, this.#file.path);
    const stat = file.statSync();
    if (stat === null) return undefined;
    file.adopt(stat);
    const placeAt = (at: number): TranscriptPlace => ({ identity: identityAt(file, stat, at), at });
    const isInside = since !== undefined && since.at <= stat.size;
    const from = isInside && placeAt(since.at).identity === since.identity ? since.at : 0;
    return { placeAt, from, pieces: piecesOf(file, from, stat.size) };
  }
}

function identityAt(file: LogFile, { dev, ino }: FileStat, at: number): string {
  const { start, beforeCursor } = fingerprintOf(file, at);
  const digest = createHash("sha256").update(start).update(beforeCursor).digest("hex");
  return `${dev}:${ino}:${digest}`;
}

async function* piecesOf(file: LogFile, from: number, to: number): AsyncGenerator<Buffer> {
  for (let at = from; at < to;) {
    const target = Buffer.allocUnsafe(Math.min(chunkBytes, to - at));
    const count = await file.read(target, 0, target.length, at);
    if (count === 0) return;
    at += count;
    yield target.subarray(0, count);
  }
}
