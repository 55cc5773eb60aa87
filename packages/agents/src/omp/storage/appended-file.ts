/** A file that lines are appended to. Only what was written since the last append is read. */
import { LineFramer, runSync } from "@branchlog/streaming";
import { isBranchlogError } from "@branchlog/core";
import { LinesFile } from "@branchlog/core/engine";
import type { ReadLines } from "@branchlog/core/engine";
import { bodyBytesMax, createLog } from "@branchlog/core/files";
import type { EngineSettings } from "@branchlog/core/files";
import type { Appender } from "./texts.ts";

export class AppendedFile implements Appender {
  readonly #settings: EngineSettings;
  readonly #file: LinesFile<NewLines>;

  constructor(path: string, settings: EngineSettings) {
    this.#settings = settings;
    // From its last byte on, which shows whether the last line is complete.
    const begin = ({ size }: { readonly size: number }): NewLines =>
      new NewLines(Math.max(0, size - 1));
    this.#file = new LinesFile(path, settings, new NewLines(0), begin);
  }

  append(line: Buffer): void {
    const file = this.#file;
    if (!file.isKnown && file.statSync() === null) {
      try {
        return createLog(this.#settings.ports, file.path, [line]);
      } catch (error) {
        // Another process was faster.
        if (!isBranchlogError(error, "ERR_LOG_EXISTS")) throw error;
      }
    }
    const plan = () => {
      file.lines.seek(line);
      return [{ id: "line", line }];
    };
    runSync(file.append("A line", plan, "microtask"));
  }
}

class NewLines implements ReadLines {
  readonly #framer: LineFramer;
  /** The lines being appended, and where they were found. */
  #line: Buffer | undefined;
  #lineAt = -1;

  constructor(offset: number) {
    this.#framer = new LineFramer({ offset, lineBytesMax: bodyBytesMax });
  }

  get end(): number {
    return this.#framer.offset;
  }

  get isTerminated(): boolean {
    return !this.#framer.hasRest;
  }

  get tail(): { readonly bytes: Buffer } | undefined {
    const bytes = this.#framer.rest()?.bytes;
    return bytes ? { bytes } : undefined;
  }

  /** In what is read from here on. */
  seek(line: Buffer): void {
    this.#line = line.subarray(0, -1);
    this.#lineAt = -1;
  }

  push(bytes: Buffer): void {
    this.#framer.push(bytes, {
      line: (source, start, end, offset) => {
        const isIt = this.#line?.equals(source.subarray(start, end)) === true;
        if (isIt && this.#lineAt < 0) this.#lineAt = offset;
      },
      longLine: () => undefined,
    });
  }

  offsetOf(): number {
    return this.#lineAt;
  }
}
