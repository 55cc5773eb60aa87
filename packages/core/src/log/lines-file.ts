/**
 * Lines in a file that is not a Branchlog session, appended like entries: in one write under its
 * lock, verified. The caller interprets the lines.
 */
import { portStep } from "@branchlog/streaming";
import type { Steps } from "@branchlog/streaming";
import { BranchlogError } from "../errors.ts";
import { LogFile } from "../platform/log-file.ts";
import { isSameFile, isUnchanged, reasonOf } from "../platform/ports.ts";
import type { FileStat } from "../platform/ports.ts";
import { commitToFile } from "./commit.ts";
import type { EngineSettings } from "./engine-options.ts";
import { FingerprintingReader, matchesFingerprint } from "./fingerprint.ts";
import type { LogInFile, PlannedLine } from "./line-plan.ts";

const chunkBytes = 1024 * 1024;

/** The state of the file as read so far. */
export interface ReadLines {
  readonly end: number;
  readonly isTerminated: boolean;
  /** The bytes after the last line. */
  readonly tail: { readonly bytes: Buffer } | undefined;
  push(bytes: Buffer): void;
  /** Of a line that is being appended; -1: it was not seen. */
  offsetOf(id: string): number;
}

/** @param isAnother Whether lines were read of another file before. */
export type BeginLines<L extends ReadLines> = (stat: FileStat, isAnother: boolean) => L;

export class LinesFile<L extends ReadLines> implements LogInFile {
  generation = 1;
  lines: L;
  readonly file: LogFile;
  readonly #settings: EngineSettings;
  readonly #begin: BeginLines<L>;
  /** Has the fingerprint of what was read. */
  #reader: FingerprintingReader;
  #stat: FileStat | undefined;

  /** @param lines As long as nothing was read. */
  constructor(path: string, settings: EngineSettings, lines: L, begin: BeginLines<L>) {
    this.file = new LogFile(settings.ports.fs, path);
    this.#reader = new FingerprintingReader(this.file);
    this.lines = lines;
    this.#settings = settings;
    this.#begin = begin;
  }

  get path(): string {
    return this.file.path;
  }

  get end(): number {
    return this.lines.end;
  }

  get isTerminated(): boolean {
    return this.lines.isTerminated;
  }

  /** Whether the file was found, once. */
  get isKnown(): boolean {
    return this.#stat !== undefined;
  }

  /** @param what Names the lines in messages. Throws as a commit, and `ERR_APPEND_*`. */
  *append(
    what: string,
    plan: () => readonly PlannedLine[],
    releasePolicy: "immediate" | "microtask",
  ): Steps<void> {
    const { ports, lockWaitMs } = this.#settings;
    const take = () => ({
      requiresCatchUp: true,
      plan: () => ({ lines: plan(), needsSeparator: false }),
    });
    const work = { ports, lockWaitMs, releasePolicy, take };
    const { failure } = (yield* commitToFile(this, work)).verification;
    if (failure === undefined) return;
    const { kind, cause } = failure;
    const message =
      `${what} was not, or only partly, appended to ${this.path} (${reasonOf(cause ?? kind)}). ` +
      "Append it again once the cause is fixed: nothing is written twice.";
    const code = kind === "unreadable" ? "ERR_APPEND_UNCERTAIN" : "ERR_APPEND_FAILED";
    throw new BranchlogError(code, message, { path: this.path, cause });
  }

  *catchUp(): Steps<void> {
    yield portStep("stat");
    while (this.readOn());
  }

  /** Whether there is more to read. Throws `ERR_LOG_GONE`. */
  readOn(): boolean {
    const stat = this.statSync();
    if (stat === null) {
      const message = `${this.path} no longer exists. Append again to create it.`;
      throw new BranchlogError("ERR_LOG_GONE", message, { path: this.path });
    }
    if (!this.#continues(stat)) {
      if (this.isKnown) this.generation += 1;
      this.lines = this.#begin(stat, this.isKnown);
      this.#reader = new FingerprintingReader(this.file);
      this.file.adopt(stat);
    }
    this.#stat = stat;
    const target = Buffer.allocUnsafe(Math.min(chunkBytes, stat.size - this.end));
    const count = this.#reader.readSync(target, 0, target.length, this.end);
    this.lines.push(target.subarray(0, count));
    return count > 0 && this.end < stat.size;
  }

  /** A new file often gets the inode of the one that was removed: the bytes tell. */
  #continues(stat: FileStat): boolean {
    if (this.#stat === undefined || !isSameFile(stat, this.#stat)) return false;
    if (isUnchanged(stat, this.#stat)) return true;
    return stat.size >= this.end && matchesFingerprint(this.file, this.#reader.bytes);
  }

  statSync(): FileStat | null {
    return this.file.statSync();
  }

  writeSync(bytes: Buffer): number {
    return this.file.appendSync(bytes);
  }

  grewBy(stat: FileStat, bytes: number): boolean {
    const isSame = this.#stat !== undefined && isSameFile(stat, this.#stat);
    return isSame && stat.size === this.end + bytes;
  }

  adopt(bytes: Buffer, stat: FileStat): void {
    this.#reader.add(bytes);
    this.lines.push(bytes);
    this.#stat = stat;
  }

  holds(id: string, line: Buffer): "no" | "unterminated" | "yes" {
    if (this.offsetOf(id) >= 0) return "yes";
    const { tail } = this.lines;
    return tail?.bytes.equals(line.subarray(0, -1)) === true ? "unterminated" : "no";
  }

  offsetOf(id: string): number {
    return this.lines.offsetOf(id);
  }
}
