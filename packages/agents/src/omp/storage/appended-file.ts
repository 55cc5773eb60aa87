/**
 * A file that lines are appended to as entries of a session are: in one write, under our lock,
 * verified. Only what was written since the last append is read.
 */
import { LineFramer, portStep, runSync } from "@branchlog/streaming";
import type { Steps } from "@branchlog/streaming";
import { BranchlogError, isBranchlogError } from "@branchlog/core";
import { commitToFile } from "@branchlog/core/engine";
import type { LinePlan, LogInFile } from "@branchlog/core/engine";
import { LogFile, bodyBytesMax, createLog, isSameFile, reasonOf } from "@branchlog/core/files";
import type { EngineSettings } from "@branchlog/core/files";
import type { FileStat } from "@branchlog/core/types";
import type { Appender } from "./texts.ts";

const chunkBytes = 1024 * 1024;

export class AppendedFile implements Appender, LogInFile {
  generation = 1;
  readonly #settings: EngineSettings;
  readonly #file: LogFile;
  #stat: FileStat | undefined;
  #framer = new LineFramer({ lineBytesMax: bodyBytesMax });
  /** The line that is being appended, and where it was found. */
  #line: Buffer | undefined;
  #lineAt = -1;

  constructor(path: string, settings: EngineSettings) {
    this.#settings = settings;
    this.#file = new LogFile(settings.ports.fs, path);
  }

  get path(): string {
    return this.#file.path;
  }

  get end(): number {
    return this.#framer.offset;
  }

  get isTerminated(): boolean {
    return !this.#framer.hasRest;
  }

  append(line: Buffer): void {
    const { ports, lockWaitMs } = this.#settings;
    if (this.#stat === undefined && this.statSync() === null) {
      try {
        return createLog(ports, this.path, [line]);
      } catch (error) {
        // Another process was faster.
        if (!isBranchlogError(error, "ERR_LOG_EXISTS")) throw error;
      }
    }
    this.#seek(undefined);
    const plan = (): LinePlan => {
      this.#seek(line);
      return { lines: [{ id: "line", line }], needsSeparator: false };
    };
    const take = () => ({ requiresCatchUp: true, plan });
    const work = { ports, lockWaitMs, releasePolicy: "microtask", take } as const;
    const { failure } = runSync(commitToFile(this, work)).verification;
    if (failure === undefined) return;
    const { kind, cause } = failure;
    const message =
      `A line was not appended, or not whole, to ${this.path} (${reasonOf(cause ?? kind)}). ` +
      "Append it again once it works.";
    const code = kind === "unreadable" ? "ERR_APPEND_UNCERTAIN" : "ERR_APPEND_FAILED";
    throw new BranchlogError(code, message, { path: this.path, cause });
  }

  #seek(line: Buffer | undefined): void {
    this.#line = line;
    this.#lineAt = -1;
  }

  *catchUp(): Steps<void> {
    yield portStep("stat");
    while (this.#readOn());
  }

  /** Whether there is more to read. */
  #readOn(): boolean {
    const stat = this.statSync();
    if (stat === null) {
      const message = `${this.path} is gone: it was deleted or moved. Open the session again.`;
      throw new BranchlogError("ERR_LOG_GONE", message, { path: this.path });
    }
    const isSame = this.#stat !== undefined && isSameFile(stat, this.#stat);
    if (!isSame || stat.size < this.end) this.#startOver(stat);
    this.#stat = stat;
    const target = Buffer.allocUnsafe(Math.min(chunkBytes, stat.size - this.end));
    const count = this.#file.readSync(target, 0, target.length, this.end);
    this.#push(target.subarray(0, count));
    return count > 0 && this.end < stat.size;
  }

  /** At its last byte, which tells whether the last line is whole. */
  #startOver(stat: FileStat): void {
    if (this.#stat !== undefined) this.generation += 1;
    this.#seek(undefined);
    const offset = Math.max(0, stat.size - 1);
    this.#framer = new LineFramer({ offset, lineBytesMax: bodyBytesMax });
    this.#file.adopt(stat);
  }

  #push(bytes: Buffer): void {
    this.#framer.push(bytes, {
      line: (source, start, end, offset) => {
        if (this.#lineAt < 0 && this.#isLine(source.subarray(start, end))) this.#lineAt = offset;
      },
      longLine: () => undefined,
    });
  }

  #isLine(bytes: Buffer): boolean {
    return this.#line?.subarray(0, -1).equals(bytes) === true;
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
    this.#push(bytes);
    this.#stat = stat;
  }

  holds(): "no" | "unterminated" | "yes" {
    if (this.#lineAt >= 0) return "yes";
    const rest = this.#framer.rest()?.bytes;
    return rest && this.#isLine(rest) ? "unterminated" : "no";
  }

  offsetOf(): number {
    return this.#lineAt;
  }
}
