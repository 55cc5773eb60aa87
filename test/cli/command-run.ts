/** Runs the command inside the test, its output in memory: no process, no terminal, no clock. */
import { copyFileSync } from "node:fs";
import { join } from "node:path";
import { Writable } from "node:stream";
import { fileURLToPath } from "node:url";
import type { CommandIo } from "../../packages/cli/src/command-io.ts";
import { StreamOutput } from "../../packages/cli/src/output.ts";
import type { Output } from "../../packages/cli/src/output.ts";
import { run } from "../../packages/cli/src/run.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";

/** How an output in memory differs from a pipe of 110 columns. */
export interface MemoryOutputOptions {
  readonly columns?: number | undefined;
  readonly isTerminal?: boolean | undefined;
  readonly hasColours?: boolean | undefined;
  /** Called with all that was written so far. */
  readonly onWrite?: ((text: string) => void) | undefined;
}

/** An output that keeps everything that leaves the command. */
export class MemoryOutput extends StreamOutput {
  readonly #written: Buffer[];

  constructor(options: MemoryOutputOptions = {}) {
    const { columns = 110, isTerminal = false, hasColours = false, onWrite } = options;
    const written: Buffer[] = [];
    const stream = new Writable({
      write: (chunk: Buffer, _encoding, done) => {
        written.push(chunk);
        onWrite?.(Buffer.concat(written).toString());
        done();
      },
    });
    super(stream, { columns, isTerminal, hasColours });
    this.#written = written;
  }

  /** What was written, whole. */
  get bytes(): Buffer {
    return Buffer.concat(this.#written);
  }

  get text(): string {
    return this.bytes.toString();
  }
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
  readonly err?: Output;
  readonly columns?: number;
  readonly signal?: AbortSignal;
  readonly isDebugging?: boolean;
  /** Whether standard input is a terminal. */
  readonly isInteractive?: boolean;
  /** Default: no program is there. */
  readonly runProgram?: CommandIo["runProgram"];
  /** Default: a clock that stands still. */
  readonly monotonicMs?: () => number;
  readonly runInBackground?: CommandIo["runInBackground"];
}

/** Runs `branchlog` with these words. */
export async function branchlog(
  words: readonly string[],
  options: RunOptions = {},
): Promise<RunResult> {
  const { input = [], columns, signal, out, err: given } = options;
  const { isDebugging = false, isInteractive = false, monotonicMs = () => 0 } = options;
  const { runProgram = noProgram, runInBackground } = options;
  const memory = new MemoryOutput({ columns });
  const err = new MemoryOutput({ columns });
  const io: CommandIo = {
    out: out ?? memory,
    err: given ?? err,
    input: () => pieces(input),
    isInteractive,
    now: () => Date.UTC(2026, 0, 1),
    monotonicMs,
    showsProgress: () => true,
    runProgram,
    runInBackground,
    signal: signal ?? new AbortController().signal,
  };
  const code = await run(words, { io, version: () => "1.2.3", isDebugging });
  return { code, out: memory.text, err: err.text };
}

function noProgram(): Promise<number> {
  return Promise.reject(Object.assign(new Error("spawn ENOENT"), { code: "ENOENT" }));
}

/** Runs it as on a terminal of so many columns, without colours. */
export async function onTerminal(
  words: readonly string[],
  options: Omit<RunOptions, "out"> = {},
): Promise<RunResult> {
  const out = new MemoryOutput({ columns: options.columns, isTerminal: true });
  return { ...(await branchlog(words, { ...options, out })), out: out.text };
}

async function* pieces(input: readonly string[]): AsyncGenerator<Uint8Array> {
  for (const piece of input) yield Buffer.from(piece);
}

/** The path of a fixture. */
export function fixture(name: string): string {
  return fileURLToPath(new URL(`../../fixtures/${name}`, import.meta.url));
}

/** A copy of one, in a separate directory. */
export function copyOf(name: string): string {
  const path = join(temporaryDirectory(), name);
  copyFileSync(fixture(name), path);
  return path;
}

/** The lines of JSON in a text. */
export function jsonLines(text: string): unknown[] {
  const lines = text.split("\n").filter((line) => line !== "");
  return lines.map((line): unknown => JSON.parse(line));
}
