/** Runs the command as users do: the built program in a separate process. */
import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { onTestFinished } from "vitest";

/** The built program. */
export const program: string = fileURLToPath(
  new URL("../../packages/cli/dist/main.js", import.meta.url),
);

/** How a process is started. */
export interface ProcessOptions {
  /** Standard input; undefined: it stays open. */
  readonly input?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly nodeArguments?: readonly string[];
}

/**
 * Arguments of Node that send signals to the process itself when it first opens a file with such a
 * name: the moment is the same on every machine.
 */
export function signalsAtOpening(name: RegExp, signals: readonly NodeJS.Signals[]): string[] {
  const code = `
    import fs from "node:fs";
    import { syncBuiltinESMExports } from "node:module";
    const { openSync } = fs;
    fs.openSync = (...given) => {
      const fd = openSync(...given);
      if (${name}.test(given[0])) {
        fs.openSync = openSync;
        for (const signal of ${JSON.stringify(signals)}) process.kill(process.pid, signal);
      }
      return fd;
    };
    syncBuiltinESMExports();`;
  return ["--import", `data:text/javascript,${encodeURIComponent(code)}`];
}

/** What came of a process. */
export interface ProcessResult {
  readonly code: number | null;
  readonly signal: string | null;
  readonly out: string;
  readonly err: string;
}

/** Starts the command; it is killed when the test has ended. Nothing of our environment gets in. */
export function startCommand(words: readonly string[], options: ProcessOptions = {}): ChildProcess {
  const { PATH = "" } = process.env;
  const child = spawn(process.execPath, [...(options.nodeArguments ?? []), program, ...words], {
    env: { PATH, ...options.env },
    stdio: "pipe",
  });
  onTestFinished(() => {
    child.kill("SIGKILL");
  });
  if (options.input !== undefined) child.stdin?.end(options.input);
  return child;
}

/** Runs the command to its end. */
export async function runProcess(
  words: readonly string[],
  options: ProcessOptions = {},
): Promise<ProcessResult> {
  const child = startCommand(words, options);
  const out: Buffer[] = [];
  const err: Buffer[] = [];
  child.stdout?.on("data", (chunk: Buffer) => out.push(chunk));
  child.stderr?.on("data", (chunk: Buffer) => err.push(chunk));
  return {
    ...(await ended(child)),
    out: Buffer.concat(out).toString(),
    err: Buffer.concat(err).toString(),
  };
}

/** Waits until the process is gone and its output read. */
export async function ended(child: ChildProcess): Promise<Pick<ProcessResult, "code" | "signal">> {
  const [code, signal] = (await once(child, "close")) as [number | null, string | null];
  return { code, signal };
}

/** Starts the command; gives a promise of the first so many lines that it prints, and of more. */
export function following(words: readonly string[]): {
  readonly child: ReturnType<typeof startCommand>;
  readonly lines: (count: number) => Promise<string[]>;
} {
  const child = startCommand(words);
  let text = "";
  const waiting = new Set<() => void>();
  child.stdout?.on("data", (chunk: Buffer) => {
    text += chunk.toString();
    for (const look of waiting) look();
  });
  const lines = (count: number): Promise<string[]> =>
    new Promise((resolve) => {
      const look = (): void => {
        const found = text.split("\n").slice(0, -1);
        if (found.length < count) return;
        waiting.delete(look);
        resolve(found);
      };
      waiting.add(look);
      look();
    });
  return { child, lines };
}
