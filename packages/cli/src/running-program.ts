/** Runs another program with the streams, exit code and signals of this one. */
import { spawn } from "node:child_process";
import { constants } from "node:os";

export interface StartedProgram {
  readonly words: readonly string[];
  readonly cwd: string;
}

export interface RunningProgram {
  /** Its exit code, as a shell has it; rejects if it cannot be started. */
  readonly ended: Promise<number>;
  kill(signal: NodeJS.Signals): void;
}

export function startProgram({ words, cwd }: StartedProgram): RunningProgram {
  const [program = "", ...given] = words;
  const child = spawn(program, given, { cwd, stdio: "inherit" });
  const ended = new Promise<number>((resolve, reject) => {
    child.once("error", reject);
    child.once("exit", (code, signal) => {
      resolve(code ?? killedCode + (signal === null ? 0 : constants.signals[signal]));
    });
  });
  return { ended, kill: (signal) => child.kill(signal) };
}

/** What shells add to the number of a signal. */
const killedCode = 128;
