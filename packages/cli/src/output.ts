/**
 * All output of the command is written here, so that no text from files, names or arguments can
 * send control sequences to a terminal. Writes are buffered and awaited, so that output of any size
 * takes bounded memory; a closed reader (`| head`) is a separate outcome.
 */
import type { Writable } from "node:stream";
import { StringDecoder } from "node:string_decoder";
import { BranchlogError } from "@branchlog/core/errors";
import type { PagedStream } from "./pager.ts";
import { createStyle, markedStyle, terminalText, wantsColour } from "./style.ts";
import type { Style } from "./style.ts";
import { cleanJson, cleanText } from "./text/clean-text.ts";

/** JSON, whose strings can hold escapes, or text. */
export type DataForm = "json" | "text";

export interface Output {
  readonly isTerminal: boolean;
  readonly columns: number;
  readonly style: Style;
  /**
   * Text for people; of control sequences, only the colours of `style` are kept. Resolves when more
   * can be written.
   * @throws ClosedOutput if the reader closed it; BranchlogError `ERR_OUTPUT_FAILED`.
   */
  write(text: string): Promise<void>;
  /**
   * Data for programs, whole or in pieces, unchanged. On a terminal, control characters are escaped
   * in JSON, which keeps its value, and replaced in text. Throws as `write`.
   */
  writeData(data: string | Buffer, form: DataForm): Promise<void>;
  /** Replaces the last line, on a terminal only. Throws as `write`. */
  showStatus(text: string): Promise<void>;
  /** Resolves when everything was handed to the system. Throws as `write`. */
  flush(): Promise<void>;
}

/** The reader of the output closed it. */
export class ClosedOutput extends Error {
  override readonly name: string = "ClosedOutput";
}

/** Buffered before a write. */
const gatheredBytesMax = 64 * 1024;

export interface StreamOutputOptions {
  readonly isTerminal: boolean;
  readonly columns: number;
  readonly hasColours: boolean;
}

const clearLine = "\r\u001B[K";

export class StreamOutput implements Output {
  readonly isTerminal: boolean;
  readonly columns: number;
  readonly style: Style;
  readonly #stream: Writable;
  /** For data shown on a terminal: a character may be split between two pieces. */
  readonly #decoder = new StringDecoder();
  #gathered: Buffer[] = [];
  #bytes = 0;

  constructor(stream: Writable, { isTerminal, columns, hasColours }: StreamOutputOptions) {
    this.isTerminal = isTerminal;
    this.columns = columns;
    this.style = markedStyle(createStyle(hasColours));
    this.#stream = stream;
    // Errors reject the pending write; without a listener they would end the process.
    stream.on("error", () => undefined);
  }

  write(text: string): Promise<void> {
    return this.#take(Buffer.from(terminalText(`${this.#decoder.end()}${text}`)));
  }

  writeData(data: string | Buffer, form: DataForm): Promise<void> {
    if (!this.isTerminal) return this.#take(typeof data === "string" ? Buffer.from(data) : data);
    const text =
      typeof data === "string" ? `${this.#decoder.end()}${data}` : this.#decoder.write(data);
    return this.#take(Buffer.from(form === "json" ? cleanJson(text) : cleanText(text)));
  }

  async showStatus(text: string): Promise<void> {
    if (!this.isTerminal) return;
    await this.#take(Buffer.from(`${clearLine}${terminalText(text)}`));
    await this.flush();
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

  async #take(bytes: Buffer): Promise<void> {
    this.#gathered.push(bytes);
    this.#bytes += bytes.length;
    if (this.#bytes >= gatheredBytesMax) await this.flush();
  }
}

/** Without a terminal, these properties are missing. */
type MaybeTerminal = Writable & { readonly isTTY?: boolean; readonly columns?: number };

const columnsDefault = 120;

export interface ProcessOutputs {
  readonly out: Output;
  readonly err: Output;
  /** On a terminal only. */
  readonly paged: PagedStream | undefined;
}

export async function processOutputs(): Promise<ProcessOutputs> {
  const { stdout, stderr } = process;
  if (!stdout.isTTY) return { out: outputOn(stdout), err: outputOn(stderr), paged: undefined };
  const { PagedStream } = await import("./pager.ts");
  const paged = new PagedStream(stdout, { rows: stdout.rows, env: process.env });
  return { out: outputOn(stdout, paged), err: outputOn(stderr), paged };
}

function outputOn(terminal: MaybeTerminal, stream: Writable = terminal): Output {
  const { isTTY: isTerminal = false } = terminal;
  // A terminal that does not say its width says 0.
  const columns = terminal.columns || columnsDefault;
  const { NO_COLOR, FORCE_COLOR, TERM } = process.env;
  const hasColours = wantsColour(isTerminal, { NO_COLOR, FORCE_COLOR, TERM });
  return new StreamOutput(stream, { isTerminal, columns, hasColours });
}

/** The reader closed its end, or an earlier write found that out and ended the stream. */
function isClosed(error: Error): boolean {
  return "code" in error && (error.code === "EPIPE" || error.code === "ERR_STREAM_DESTROYED");
}

function outputFailed(cause: Error): BranchlogError {
  const message =
    `The output could not be written (${cause.message}) and is incomplete. Free space for it, or ` +
    "redirect it. The command may already have made its changes: check before you " +
    "run it again.";
  return new BranchlogError("ERR_OUTPUT_FAILED", message, { cause });
}
