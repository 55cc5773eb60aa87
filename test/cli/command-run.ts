/** Runs the command inside the test, its output in memory: no process, no terminal, no clock. */
import { fileURLToPath } from "node:url";
import type { CommandIo } from "../../packages/cli/src/command-io.ts";
import type { Output } from "../../packages/cli/src/output.ts";
import { run } from "../../packages/cli/src/run.ts";
import { plainStyle } from "../../packages/cli/src/style.ts";
import type { Style } from "../../packages/cli/src/style.ts";

/** An output that keeps everything. */
export class MemoryOutput implements Output {
  readonly isTerminal: boolean = false;
  readonly columns: number;
  readonly style: Style;
  readonly #written: Buffer[] = [];

  constructor(columns = 110, style: Style = plainStyle) {
    this.columns = columns;
    this.style = style;
  }

  /** What was written, whole. */
  get bytes(): Buffer {
    return Buffer.concat(this.#written);
  }

  get text(): string {
    return this.bytes.toString();
  }

  async write(text: string | Buffer): Promise<void> {
    this.#written.push(Buffer.from(text));
  }

  async flush(): Promise<void> {}
}

/** What came of a run. */
export interface RunResult {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

/** How a run differs from the usual. */
export interface RunOptions {
  /** Standard input, in these pieces. */
  readonly input?: readonly string[];
  readonly out?: Output;
  readonly columns?: number;
  readonly signal?: AbortSignal;
  readonly isDebugging?: boolean;
  /** Whether standard input is a terminal. */
  readonly isInteractive?: boolean;
}

/** Runs `branchlog` with these words. */
export async function branchlog(
  words: readonly string[],
  options: RunOptions = {},
): Promise<RunResult> {
  const { input = [], columns, signal, out } = options;
  const { isDebugging = false, isInteractive = false } = options;
  const memory = new MemoryOutput(columns);
  const err = new MemoryOutput(columns);
  const io: CommandIo = {
    out: out ?? memory,
    err,
    input: () => pieces(input),
    isInteractive,
    now: () => Date.UTC(2026, 0, 1),
    monotonicMs: () => 0,
    signal: signal ?? new AbortController().signal,
  };
  const code = await run(words, { io, version: "1.2.3", isDebugging });
  return { code, out: memory.text, err: err.text };
}

async function* pieces(input: readonly string[]): AsyncGenerator<Uint8Array> {
  for (const piece of input) yield Buffer.from(piece);
}

/** The path of a fixture. */
export function fixture(name: string): string {
  return fileURLToPath(new URL(`../../fixtures/${name}`, import.meta.url));
}

/** The lines of JSON in a text. */
export function jsonLines(text: string): unknown[] {
  const lines = text.split("\n").filter((line) => line !== "");
  return lines.map((line): unknown => JSON.parse(line));
}
