/** The command: writes one generated session, or a directory of them, and prints its facts. */
import { writeFileSync } from "node:fs";
import { argv, exit, stderr, stdout } from "node:process";
import { type Command, parseCommand, usage } from "./command-line.ts";
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

function run({ target, factsTarget, options, files }: Command): void {
  const facts =
    files === undefined
      ? writeSessionFile(target, options)
      : writeSessionDirectory(target, files, options);
  if (factsTarget !== undefined) writeFileSync(factsTarget, `${JSON.stringify(facts, null, 2)}\n`);
  stdout.write(`${target}: ${facts.bytes} bytes, ${facts.entries} entries\n`);
}
