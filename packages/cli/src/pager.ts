/**
 * Shows long output in a pager. It is started by the first piece of output that is longer than the
 * screen; shorter output, and what follows it, goes to the terminal itself.
 */
import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { Writable } from "node:stream";

export interface PagerEnvironment {
  readonly BRANCHLOG_PAGER?: string | undefined;
  readonly PAGER?: string | undefined;
}

/** Of these, the first that the machine has. */
const usual = "less || more || cat";

/** A command of the shell; undefined if output is to be printed as it is. */
export function pagerCommand({ BRANCHLOG_PAGER, PAGER }: PagerEnvironment): string | undefined {
  const command = (BRANCHLOG_PAGER ?? PAGER ?? usual).trim();
  return command === "" || command === "cat" ? undefined : command;
}

/**
 * The shell ends with 126 or 127 if it cannot start a program, which then has read nothing: the
 * output is printed as it is.
 */
const orPrinted = "\ncase $? in 126 | 127) exec cat ;; esac";

export class PagedStream extends Writable {
  readonly #terminal: Writable;
  readonly #rows: number;
  readonly #env: NodeJS.ProcessEnv;
  #command: string | undefined;
  #target: Writable | undefined;
  #pager: ChildProcess | undefined;

  /** @param rows The lines of the terminal; not above 0: unknown. */
  constructor(
    terminal: Writable,
    { rows, env }: { readonly rows: number; readonly env: NodeJS.ProcessEnv },
  ) {
    super();
    this.#terminal = terminal;
    this.#rows = rows;
    this.#env = env;
    // An error rejects the write that had it.
    terminal.on("error", () => undefined);
  }

  /** To be called before the first piece, for a command that prints and ends. */
  allow(): void {
    const { BRANCHLOG_PAGER, PAGER } = this.#env;
    this.#command = pagerCommand({ BRANCHLOG_PAGER, PAGER });
  }

  get isPaging(): boolean {
    return this.#pager !== undefined;
  }

  override _write(
    chunk: Buffer,
    _encoding: BufferEncoding,
    done: (error?: Error | null) => void,
  ): void {
    this.#target ??= this.#open(chunk);
    this.#target.write(chunk, done);
  }

  /** Resolves when the reader has left the pager. */
  async closePager(): Promise<void> {
    if (this.#pager === undefined) return;
    this.#pager.stdin?.end();
    if (this.#pager.exitCode === null && this.#pager.signalCode === null) {
      await once(this.#pager, "close");
    }
  }

  #open(chunk: Buffer): Writable {
    // A pager queries a terminal of unknown size, and may wait forever for an answer.
    const isLong = this.#rows > 0 && linesOf(chunk) >= this.#rows;
    if (this.#command === undefined || !isLong) return this.#terminal;
    // `-FRX`: leave if it fits after all, show colours, keep the text on the screen.
    const env = { LESS: "FRX", ...this.#env };
    const command = process.platform === "win32" ? this.#command : this.#command + orPrinted;
    const pager = spawn(command, { shell: true, stdio: ["pipe", "inherit", "inherit"], env });
    pager.stdin.on("error", () => undefined);
    this.#pager = pager;
    return pager.stdin;
  }
}

function linesOf(chunk: Buffer): number {
  let lines = 0;
  for (let at = chunk.indexOf(10); at >= 0; at = chunk.indexOf(10, at + 1)) lines += 1;
  return lines;
}
