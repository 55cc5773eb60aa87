/**
 * Where text goes, as strings or as bytes. Writes are gathered into larger ones, and each is waited
 * for, so that output of any size is held in bounded memory; a reader that went away (`| head`) is
 * an outcome of its own.
 */
import type { Writable } from "node:stream";
import { BranchlogError } from "@branchlog/core";
import type { Style } from "./style.ts";

/** A place for text: standard output, standard error, or the memory of a test. */
export interface Output {
  readonly isTerminal: boolean;
  /** Width of a line. */
  readonly columns: number;
  readonly style: Style;
  /**
   * Takes text, or the bytes of text, which must stay as they are; resolves when more is welcome.
   * @throws ClosedOutput if nobody reads any more; BranchlogError `ERR_OUTPUT_FAILED`.
   */
  write(text: string | Buffer): Promise<void>;
  /** Resolves when everything taken has been handed over. Throws as `write` does. */
  flush(): Promise<void>;
}

/** Thrown by writes when the reader of the output is gone. */
export class ClosedOutput extends Error {
  override readonly name: string = "ClosedOutput";
}

/** Bytes that are gathered before they are written. */
const gatheredBytesMax = 64 * 1024;

/** What a {@link StreamOutput} says about itself. */
export interface StreamOutputOptions {
  readonly isTerminal: boolean;
  readonly columns: number;
  readonly style: Style;
}

/** Writes to a stream. */
export class StreamOutput implements Output {
  readonly isTerminal: boolean;
  readonly columns: number;
  readonly style: Style;
  readonly #stream: Writable;
  #gathered: Buffer[] = [];
  #bytes = 0;

  constructor(stream: Writable, { isTerminal, columns, style }: StreamOutputOptions) {
    this.isTerminal = isTerminal;
    this.columns = columns;
    this.style = style;
    this.#stream = stream;
    // Errors reach whoever waits for the write; without a listener they would end the process.
    stream.on("error", () => undefined);
  }

  async write(text: string | Buffer): Promise<void> {
    const bytes = typeof text === "string" ? Buffer.from(text) : text;
    this.#gathered.push(bytes);
    this.#bytes += bytes.length;
    if (this.#bytes >= gatheredBytesMax) await this.flush();
  }

  flush(): Promise<void> {
    if (this.#bytes === 0) return Promise.resolve();
    const bytes = Buffer.concat(this.#gathered, this.#bytes);
    this.#gathered = [];
    this.#bytes = 0;
    return new Promise((resolve, reject) => {
      this.#stream.write(bytes, (error) => {
        if (error === undefined || error === null) resolve();
        else reject(isClosed(error) ? new ClosedOutput() : outputFailed(error));
      });
    });
  }
}

/** The reader closed its end, or an earlier write found that out and ended the stream. */
function isClosed(error: Error): boolean {
  return "code" in error && (error.code === "EPIPE" || error.code === "ERR_STREAM_DESTROYED");
}

function outputFailed(cause: Error): BranchlogError {
  const message =
    `The output could not be written (${cause.message}), and is cut off. Make room for it, or ` +
    "send it elsewhere. What the command was to change may be changed by now: look before you " +
    "run it again.";
  return new BranchlogError("ERR_OUTPUT_FAILED", message, { cause });
}
