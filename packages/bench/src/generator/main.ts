/** The command: writes one generated or grown session to a file and says what it wrote. */
import { writeFileSync } from "node:fs";
import { performance } from "node:perf_hooks";
import { argv, exit, stderr, stdout } from "node:process";
import { type Command, parseCommand, usage } from "./command-line.ts";
import { growSession } from "./growth.ts";
import { writeSessionDirectory, writeSessionFile } from "./session-file.ts";

try {
  const command = parseCommand(argv.slice(2));
  if (command === "help") stdout.write(usage);
  else run(command);
} catch (error) {
  const message = error instanceof Error ? error.message : String(error);
  stderr.write(`generator: ${message}\nTry --help.\n`);
  exit(1);
}

function run(command: Command): void {
  const startMs = performance.now();
  const facts = write(command);
  const seconds = (performance.now() - startMs) / 1000;
  if (command.factsTarget !== undefined) {
    writeFileSync(command.factsTarget, `${JSON.stringify(facts, null, 2)}\n`);
  }
  const rate = Math.round(facts.bytes / 1e6 / Math.max(seconds, 0.001));
  stdout.write(
    `${command.target}: ${facts.bytes} bytes, ${facts.entries} entries, ` +
      `${seconds.toFixed(2)} s, ${rate} MB/s\n`,
  );
}

function write(command: Command): { readonly bytes: number; readonly entries: number } {
  switch (command.kind) {
    case "grow":
      return growSession(command.source, command.target, command.options);
    case "directory":
      return writeSessionDirectory(command.target, command.files, command.options);
    case "generate":
      return writeSessionFile(command.target, command.options);
  }
}
