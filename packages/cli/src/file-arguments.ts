/**
 * The commands on whole session files (list, copy, migrate, delete), with their options and help
 * texts. Pure.
 */
import { newFile } from "./argument-values.ts";
import type { Choose } from "./command.ts";
import { isOption, optionWords } from "./marked-words.ts";
import type { Words } from "./marked-words.ts";
import type { Argv } from "./parser.ts";
import { fileOptions, noSaveOption } from "./reader-options.ts";
import type { FileArguments } from "./reader-options.ts";

/** Declares the commands. */
export function addFileCommands(parser: Argv, words: Words, choose: Choose): void {
  parser
    .command("list [dir]", "List pi, omp and ConnectOnion sessions", listOptions, (args) => {
      const { dir: directory, json, all, noSave } = args;
      choose({ name: "list", options: { directory, json, all, noSave } });
    })
    .command("fork <file>", "Make a new session of one branch", forkOptions, (args) => {
      const { file, json, at } = args;
      choose({ name: "fork", options: { file, json, at, output: newFile(args.output) } });
    })
    .command("convert <file>", "Write a session for another agent", convertOptions, (args) => {
      const { file, json, to } = args;
      choose({ name: "convert", options: { file, json, to, output: newFile(args.output) } });
    })
    .command(
      "migrate <file>",
      "Migrate an old session to the current version",
      fileOptions,
      (args) => {
        choose({ name: "migrate", options: { file: args.file, json: args.json } });
      },
    )
    .command("delete <sessions..>", "Delete sessions, after asking", deleteOptions, (args) => {
      const { json, yes, force } = args;
      const sessions = sessionWords(words);
      choose({ name: "delete", options: { sessions, json, yes, force } });
    });
}

/**
 * The words after the name of a command whose options take no values, also if the name is behind
 * `--`. For a single positional given repeatedly, the parser would keep the last, as for options.
 */
function sessionWords(words: Words): string[] {
  const before = optionWords(words);
  const behind = words.slice(before.length + 1);
  return [...before.filter((word) => !isOption(word)), ...behind].slice(1);
}

function listOptions(
  command: Argv,
): Argv<{ dir: string | undefined; all: boolean; json: boolean; "no-save": boolean }> {
  return noSaveOption(command)
    .positional("dir", {
      type: "string",
      describe:
        "A directory, or a session; default: the directories of pi, co-mono, omp, ConnectOnion",
    })
    .option("all", {
      type: "boolean",
      default: false,
      describe: "Include transcripts of subagents, which omp keeps beside sessions",
    })
    .option("json", { type: "boolean", default: false, describe: "Print JSON, for programs" });
}

function forkOptions(
  command: Argv,
): Argv<FileArguments & { at: string | undefined; output: string | undefined }> {
  return fileOptions(command)
    .option("at", {
      type: "string",
      requiresArg: true,
      describe: "The entry at which the fork ends; default: the last one",
    })
    .option("output", {
      alias: "o",
      type: "string",
      requiresArg: true,
      describe: "Where to write it; default: beside FILE, under a new name",
    });
}

const targets = ["pi", "omp"] as const;

function convertOptions(
  command: Argv,
): Argv<FileArguments & { to: (typeof targets)[number]; output: string }> {
  return fileOptions(command)
    .option("to", { choices: targets, demandOption: true, describe: "The agent it is for" })
    .option("output", {
      alias: "o",
      type: "string",
      requiresArg: true,
      demandOption: true,
      describe: "Where to write it",
    });
}

function deleteOptions(
  command: Argv,
): Argv<{ sessions: string[]; yes: boolean; force: boolean; json: boolean }> {
  return command
    .positional("sessions", {
      array: true,
      type: "string",
      demandOption: true,
      describe: "Session files, or names or ids of sessions",
    })
    .option("yes", {
      alias: "y",
      type: "boolean",
      default: false,
      describe: "Do not ask",
    })
    .option("force", {
      type: "boolean",
      default: false,
      describe: "Delete even while another process holds the lock",
    })
    .option("json", { type: "boolean", default: false, describe: "Print JSON, for programs" });
}
