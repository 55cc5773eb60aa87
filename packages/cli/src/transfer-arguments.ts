/** Parses the arguments of `branchlog import` and `branchlog export`. Pure. */
import { exportFormats, importFormats, newFile, sayWhere } from "./argument-values.ts";
import type { Command } from "./command.ts";
import { UsageError } from "./failure.ts";
import type { Argv } from "./parser.ts";
import { fileOptions } from "./reader-options.ts";
import type { FileArguments } from "./reader-options.ts";
import type { ExportFormat, ImportFormat } from "./transfer-kinds.ts";

/** Declares both commands. */
export function addTransfers(parser: Argv, choose: (command: Command) => void): void {
  parser
    .command("import <source>", "Import a session of another agent", importOptions, (args) => {
      const { source, from, json } = args;
      const output = newFile(args.output);
      if (output === undefined) throw new UsageError(sayWhere);
      choose({ name: "import", options: { source, output, from, json } });
    })
    .command("export <file>", "Write a session in another form", exportOptions, (args) => {
      const { file, to, at, json } = args;
      const output = args.output === "" || args.output === "-" ? undefined : args.output;
      choose({ name: "export", options: { file, to, output, at, json } });
    });
}

type Output = { output: string | undefined };

function importOptions(
  command: Argv,
): Argv<{ source: string; json: boolean; from: ImportFormat | undefined } & Output> {
  return command
    .positional("source", {
      type: "string",
      demandOption: true,
      describe: "A session of Claude Code, Codex or ConnectOnion",
    })
    .option("output", {
      alias: "o",
      type: "string",
      requiresArg: true,
      describe: "The new session file",
    })
    .option("from", {
      type: "string",
      choices: importFormats,
      requiresArg: true,
      describe: "The agent of the source; default: recognised by its content",
    })
    .option("json", { type: "boolean", default: false, describe: "Print JSON, for programs" });
}

function exportOptions(
  command: Argv,
): Argv<FileArguments & { to: ExportFormat; at: string | undefined } & Output> {
  return fileOptions(command)
    .option("to", {
      type: "string",
      choices: exportFormats,
      demandOption: true,
      requiresArg: true,
      describe: "The form",
    })
    .option("output", {
      alias: "o",
      type: "string",
      requiresArg: true,
      describe: "The new file; without it, or with -, standard output",
    })
    .option("at", {
      type: "string",
      requiresArg: true,
      describe: "The id of the entry where the path ends; default: the last one",
    });
}
