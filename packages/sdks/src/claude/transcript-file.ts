/**
 * A transcript in a file. Batches are committed as entries of a session are: in one write, under
 * the lock of the file, verified. An append that has returned survives the death of the process.
 */
import { createHash } from "node:crypto";
import { setImmediate as nextIteration } from "node:timers/promises";
import { portStep, runAsync } from "@branchlog/streaming";
import type { Steps } from "@branchlog/streaming";
import { BranchlogError, isBranchlogError } from "@branchlog/core";
import { commitToFile } from "@branchlog/core/engine";
import type { LinePlan, LogInFile, PlannedLine } from "@branchlog/core/engine";
import { FingerprintingReader, LogFile, createStreamedLog } from "@branchlog/core/files";
import { fingerprintOf, inBatches, isSameFile, isUnchanged } from "@branchlog/core/files";
import { matchesFingerprint, reasonOf, requireOwnPlace } from "@branchlog/core/files";
import type { EngineSettings } from "@branchlog/core/files";
import type { FileStat } from "@branchlog/core/types";
import { TranscriptLines, isLine } from "./transcript-lines.ts";
import type { Batch } from "./transcript-lines.ts";
import type { ReadTranscript, Transcript, TranscriptPlace } from "./transcripts.ts";

const chunkBytes = 1024 * 1024;

export class TranscriptFile implements LogInFile, Transcript {
  generation = 1;
  readonly #settings: EngineSettings;
  readonly #file: LogFile;
  /** Has the fingerprint of what was read. */
  #reader: FingerprintingReader;
  #stat: FileStat | undefined;
  #lines = new TranscriptLines();

  constructor(path: string, settings: EngineSettings) {
    this.#settings = settings;
    this.#file = new LogFile(settings.ports.fs, path);
    this.#reader = new FingerprintingReader(this.#file);
  }

  get path(): string {
    return this.#file.path;
  }

  get end(): number {
    return this.#lines.end;
  }

  get isTerminated(): boolean {
    return this.#lines.isTerminated;
  }

  async append(batch: Batch): Promise<void> {
    const { ports } = this.#settings;
    // Claude Code writes to its own by itself.
    if (this.#stat === undefined) requireOwnPlace(ports.fs, this.path);
    if (this.statSync() === null) {
      const lines = new TranscriptLines()
        .missing(batch)
        .flatMap((at) => batch.lines[at]?.line ?? []);
      try {
        batch.begin();
        return await createStreamedLog(ports, this.path, inBatches(lines));
      } catch (error) {
        if (!isBranchlogError(error, "ERR_LOG_EXISTS")) throw error;
        // Another process was faster: what it wrote is not of this batch.
        batch.forget(false);
      }
    }
    await this.#commit(batch);
  }

  async #commit(batch: Batch): Promise<void> {
    this.#lines.batch = batch;
    // What is long is read before the lock is held.
    while (this.#readOn()) await nextIteration();
    const { ports, lockWaitMs } = this.#settings;
    const plan = (): LinePlan => ({ lines: this.#planned(batch), needsSeparator: false });
    const take = () => ({ requiresCatchUp: true, plan });
    const work = { ports, lockWaitMs, releasePolicy: "immediate", take } as const;
    const { failure } = (await runAsync(commitToFile(this, work))).verification;
    if (failure === undefined) return;
    const { kind, cause } = failure;
    const message =
      `A batch was not appended, or not whole, to ${this.path} (${reasonOf(cause ?? kind)}). ` +
      "Append it again once it works: what is there is not written twice.";
    const code = kind === "unreadable" ? "ERR_APPEND_UNCERTAIN" : "ERR_APPEND_FAILED";
    throw new BranchlogError(code, message, { path: this.path, cause });
  }

  #planned(batch: Batch): readonly PlannedLine[] {
    const missing = this.#lines.missing(batch);
    batch.begin();
    return missing.flatMap((at) => {
      const line = batch.lines[at]?.line;
      return line === undefined ? [] : [{ id: String(at), line }];
    });
  }

  async read(since?: TranscriptPlace): Promise<ReadTranscript | undefined> {
    const file = new LogFile(this.#settings.ports.fs, this.path);
    const stat = file.statSync();
    if (stat === null) return undefined;
    file.adopt(stat);
    const placeAt = (at: number): TranscriptPlace => ({ identity: identityAt(file, stat, at), at });
    const isInside = since !== undefined && since.at <= stat.size;
    const from = isInside && placeAt(since.at).identity === since.identity ? since.at : 0;
    return { placeAt, from, pieces: piecesOf(file, from, stat.size) };
  }

  *catchUp(): Steps<void> {
    yield portStep("stat");
    while (this.#readOn());
  }

  /** Whether there is more to read. */
  #readOn(): boolean {
    const stat = this.statSync();
    if (stat === null) {
      const message = `${this.path} is gone: it was deleted or moved. Append again to begin it.`;
      throw new BranchlogError("ERR_LOG_GONE", message, { path: this.path });
    }
    if (!this.#continues(stat)) this.#startOver(stat);
    this.#stat = stat;
    const target = Buffer.allocUnsafe(Math.min(chunkBytes, stat.size - this.end));
    const count = this.#reader.readSync(target, 0, target.length, this.end);
    this.#lines.push(target.subarray(0, count));
    return count > 0 && this.end < stat.size;
  }

  /** A new file often gets the number of the one that was removed. */
  #continues(stat: FileStat): boolean {
    if (this.#stat === undefined || !isSameFile(stat, this.#stat)) return false;
    if (isUnchanged(stat, this.#stat)) return true;
    return stat.size >= this.end && matchesFingerprint(this.#file, this.#reader.bytes);
  }

  #startOver(stat: FileStat): void {
    const { batch } = this.#lines;
    if (this.#stat !== undefined) {
      this.generation += 1;
      batch?.forget(false);
    }
    this.#lines = new TranscriptLines();
    this.#lines.batch = batch;
    this.#reader = new FingerprintingReader(this.#file);
    this.#file.adopt(stat);
  }

  statSync(): FileStat | null {
    return this.#file.statSync();
  }

  writeSync(bytes: Buffer): number {
    return this.#file.appendSync(bytes);
  }

  grewBy(stat: FileStat, bytes: number): boolean {
    const isSame = this.#stat !== undefined && isSameFile(stat, this.#stat);
    return isSame && stat.size === this.end + bytes;
  }

  adopt(bytes: Buffer, stat: FileStat): void {
    this.#reader.add(bytes);
    this.#lines.push(bytes);
    this.#stat = stat;
  }

  holds(id: string, line: Buffer): "no" | "unterminated" | "yes" {
    if (this.offsetOf(id) >= 0) return "yes";
    const { tail } = this.#lines;
    return tail !== undefined && isLine(tail.bytes, line) ? "unterminated" : "no";
  }

  offsetOf(id: string): number {
    return this.#lines.batch?.offsetOf(Number(id)) ?? -1;
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
