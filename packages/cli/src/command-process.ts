/** The process of the command `branchlog`: its streams, its signals, its exit code. */
import { spawn } from "node:child_process";
import { setPriority } from "node:os";
import { addAbortSignal } from "node:stream";
import type { Readable } from "node:stream";
import { isatty } from "node:tty";
import type { Command } from "./declaration.ts";
import type { CommandIo } from "./command-io.ts";
import { startProgram } from "./running-program.ts";
import type { RunningProgram } from "./running-program.ts";
import { globalOptions } from "./command-words.ts";
import { processOutputs } from "./output.ts";
import { shownWord } from "./path-form.ts";
import { endOf, exitCodes, run } from "./run.ts";
import type { RunSetting } from "./run.ts";

/** Other users of the machine see the arguments of a process. */
function hideSecrets(words: readonly string[]): void {
  const shown = words.map(shownWord);
  if (shown.some((word, at) => word !== words[at])) {
    process.title = ["branchlog", ...shown].join(" ");
  }
}

/** Without a terminal, and at a lower priority than foreground work. */
function startInBackground(words: readonly string[]): void {
  const [program] = process.argv.slice(1);
  if (program === undefined) return;
  const options = { detached: true, stdio: "ignore", windowsHide: true } as const;
  const child = spawn(process.execPath, [program, ...words], options);
  // It is not needed for anything.
  child.on("error", () => undefined);
  try {
    if (child.pid !== undefined) setPriority(child.pid, 19);
  } catch {
    // Not permitted, or it has ended already.
  }
  child.unref();
}

/** Runs the command with these arguments, and sets the exit code of the process. */
export async function runProcess(words: readonly string[], version: () => string): Promise<void> {
  hideSecrets(words);
  const { rest, hasColours, hasPager } = globalOptions(words);
  if (!hasColours) process.env["NO_COLOR"] = "1";
  const { paged, ...outputs } = await processOutputs();
  const interrupt = new AbortController();
  let writing = false;
  let program: RunningProgram | undefined;
  let input: Readable | undefined;

  const signals = [
    ["SIGINT", exitCodes.interrupted],
    ["SIGTERM", 143],
    ["SIGHUP", 129],
  ] as const;
  let interruptions = 0;
  for (const [signal, code] of signals) {
    process.on(signal, () => {
      if (program !== undefined) {
        // A terminal sent it to both; the program decides how to react.
        if (signal !== "SIGINT" || !isatty(0)) program.kill(signal);
        return;
      }
      interrupt.abort();
      interruptions += 1;
      // A writing command exits by itself when it is aborted; the process exits at once from the
      // third signal on, so that a key pressed twice, or a signal to the process group, leaves no
      // half-written file.
      // A pager has the keyboard, and decides itself what an interrupt means.
      if (paged?.isPaging === true && interruptions < 3) return;
      if (!writing || interruptions > 2) process.exit(code);
    });
  }

  const io: CommandIo = {
    ...outputs,
    input: () => (input = addAbortSignal(interrupt.signal, process.stdin)),
    isInteractive: isatty(0),
    now: () => Date.now(),
    monotonicMs: () => performance.now(),
    runProgram: async (started) => {
      program = startProgram(started);
      try {
        return await program.ended;
      } finally {
        program = undefined;
      }
    },
    runInBackground:
      process.env["BRANCHLOG_INDEX_UPDATES"] === "off" ? undefined : startInBackground,
    // A pager owns the screen.
    showsProgress: () => paged?.isPaging !== true,
    signal: interrupt.signal,
  };

  let command: Command | undefined;
  const setting: RunSetting = {
    io,
    version,
    shell: process.env["SHELL"],
    isDebugging: Boolean(process.env["BRANCHLOG_DEBUG"]),
    onCommand: (chosen) => {
      command = chosen;
      writing = chosen.isWriting;
      if (chosen.isPaged && hasPager) paged?.allow();
    },
  };
  // Uncaught errors: Node would print them unescaped, with names and text of files in them.
  process.on("uncaughtException", (error) => {
    void endOf(error, command, { ...setting, words }).then((code) => process.exit(code));
  });

  process.exitCode = await run(rest, setting);
  await paged?.closePager();
  // Input that is not read to its end would keep the process alive.
  input?.destroy();
}
