/** Runs appenders as real processes on the built packages, and collects what they acknowledged. */
import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";

const script = fileURLToPath(new URL("../support/appending-process.mjs", import.meta.url));

export interface AppendingProcess {
  readonly child: ChildProcess;
  /** Ids by batch, as far as acknowledged. */
  readonly batches: () => string[][];
  /** Resolves once so many batches were acknowledged, or the process has ended. */
  readonly acknowledged: (batches: number) => Promise<void>;
  /** Resolves to the exit code, or null after a signal; rejects with what it said on stderr. */
  readonly ended: Promise<number | null>;
}

interface Appending {
  readonly count: number;
  readonly batch: number;
  /** A command that runs the command after it, somehow. */
  readonly through?: readonly string[];
}

/** Starts a process that appends `count` batches of `batch` entries to `path`. */
export function startAppending(
  path: string,
  name: string,
  { count, batch, through = [] }: Appending,
): AppendingProcess {
  const own = [process.execPath, script, path, name, String(count), String(batch)];
  const [command = process.execPath, ...args] = [...through, ...own];
  const child = spawn(command, args, { stdio: ["ignore", "pipe", "pipe"] });
  let output = "";
  let complaints = "";
  child.stdout?.on("data", (chunk: Buffer) => (output += chunk.toString()));
  child.stderr?.on("data", (chunk: Buffer) => (complaints += chunk.toString()));
  // A line without its end may be truncated by a kill: only whole ones count.
  const batches = (): string[][] =>
    output
      .split("\n")
      .slice(0, -1)
      .map((line) => line.split(" "));
  const ended = once(child, "close").then(([code]) => {
    if (complaints !== "") throw new Error(`${name}: ${complaints}`);
    return typeof code === "number" ? code : null;
  });
  const acknowledged = async (wanted: number): Promise<void> => {
    while (batches().length < wanted && child.exitCode === null && child.signalCode === null) {
      await Promise.race([once(child.stdout ?? child, "data"), ended]);
    }
  };
  return { child, batches, acknowledged, ended };
}
