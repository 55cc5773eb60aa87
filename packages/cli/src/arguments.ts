/**
 * Parses a command line into a command, a help text or shell completions. Pure: it neither prints
 * nor exits.
 */
import { draftSource, newFile, placeOf, wholeNumber } from "./argument-values.ts";
import { commandNames } from "./command.ts";
import type { Choose, Command } from "./command.ts";
import { addFileCommands } from "./file-arguments.ts";
import { UsageError } from "./failure.ts";
import { markedWords, strayOption, unmarkArguments, unmarked } from "./marked-words.ts";
import type { Words } from "./marked-words.ts";
import { emptyParser } from "./parser.ts";
import type { Argv } from "./parser.ts";
import {
  contextOptions,
  entriesOptions,
  fileOptions,
  readingOptions,
  searchOptions,
  tailOptions,
  treeOptions,
  turnsOptions,
  watchOptions,
} from "./reader-options.ts";
import type { FileArguments, ReadingArguments } from "./reader-options.ts";
import { addTransfers } from "./transfer-arguments.ts";

/** A command to run, or a text to print (help, version, completions). */
export type ParsedArguments =
  | { readonly kind: "command"; readonly command: Command }
  | { readonly kind: "text"; readonly text: string };

/**
 * Parses a command line, without the program's name.
 * @throws UsageError for a wrong command line.
 */
export function parseArguments(words: readonly string[], version: string): ParsedArguments {
  let command: Command | undefined;
  let outcome: { readonly error: Error | undefined; readonly text: string } | undefined;
  const parser = createParser(version, words, (chosen) => {
    command = chosen;
  });
  // With a callback, yargs passes on what it would print. The handlers run synchronously.
  void parser.parse(
    words[0] === asksForCompletions ? [...words] : markedWords(words),
    (error: Error | undefined | null, _parsed: unknown, text: string) => {
      outcome = { error: error ?? undefined, text };
    },
  );
  const { error, text } = outcome ?? { error: undefined, text: "" };
  if (error instanceof UsageError) throw error;
  if (error !== undefined) throw misuse(error.message, text, { words, version });
  if (command !== undefined) return { kind: "command", command };
  return { kind: "text", text: words[0] === asksForCompletions ? offered(text, words) : text };
}

/** The first argument of the completion script, before the line itself. */
const asksForCompletions = "--get-yargs-completions";

/**
 * Completions, with options only for a word that starts with a dash: without any, the shell offers
 * files.
 */
function offered(completions: string, words: Words): string {
  if (words.at(-1)?.startsWith("-") === true) return completions;
  return completions
    .split("\n")
    .filter((line) => !line.startsWith("-"))
    .join("\n");
}

interface Given {
  readonly words: Words;
  readonly version: string;
}

/** The error in terms of the given words; yargs' message is about the parsed ones. */
function misuse(problem: string, text: string, given: Given): UsageError {
  // An unknown option consumes the next word, which is then missing, or splits into letters.
  const isOfWords = /^(?:Unknown|Not enough non-option)/u.test(problem);
  const stray = isOfWords ? strayOption(given.words, helpFor(given)) : undefined;
  if (stray === undefined) return new UsageError(unmarked(usageProblem(problem, text, given)));
  const hint = "What starts with a dash and is no option goes behind --.";
  return new UsageError(`Unknown option: ${stray}. ${hint}`);
}

/** The help text that lists the options. */
function helpFor({ words, version }: Given): string {
  const command = isCommand(words[0]) ? words.slice(0, 1) : [];
  const help = parseArguments([...command, "--help"], version);
  return help.kind === "text" ? help.text : "";
}

/** The error, with the suggestion of yargs if it has one. */
function usageProblem(problem: string, text: string, { words }: Given): string {
  const [, extra] = /^Unknown (?:command|argument)s?: (.*)$/su.exec(problem) ?? [];
  // yargs reports each word that no positional takes as an unknown command.
  if (extra !== undefined && isCommand(words[0])) return `Too many arguments: ${extra}`;
  const [meant = ""] = text.split("\n");
  return meant.startsWith("Did you mean") ? `${problem}. ${meant}` : problem;
}

function isCommand(word: string | undefined): boolean {
  return word === "completion" || commandNames.some((name) => name === word);
}

function createParser(version: string, words: Words, choose: Choose): Argv {
  const parser = emptyParser(version);
  parser.middleware((args) => unmarkArguments(args), true);
  addReaders(parser, choose);
  addWriters(parser, choose);
  addFileCommands(parser, words, choose);
  addTransfers(parser, choose);
  return parser.completion("completion", "Print a script that completes commands in your shell");
}

function addReaders(parser: Argv, choose: Choose): void {
  parser
    .command("info <file>", "Show the facts of a session", readingOptions, (args) => {
      choose({ name: "info", options: args });
    })
    .command("tree <file>", "Show the branches of a session", treeOptions, (args) => {
      const depth = wholeNumber("depth", args.depth);
      if (args.json && depth !== undefined) throw new UsageError("--json lists the whole tree.");
      choose({ name: "tree", options: { ...args, depth } });
    })
    .command("context <file>", "Show what the model would get", contextOptions, (args) => {
      const last = wholeNumber("last", args.last);
      choose({ name: "context", options: { ...args, at: args.at, last } });
    })
    .command("turns <file>", "List turns: asked, answered, spent", turnsOptions, (args) => {
      const { file, json, noSave } = args;
      const turn = wholeNumber("turn", args.turn, 1);
      const replay = wholeNumber("replay", args.replay, 1);
      if (turn !== undefined && replay !== undefined) {
        throw new UsageError("Give --turn or --replay.");
      }
      choose({ name: "turns", options: { file, json, noSave, turn, replay } });
    })
    .command("entries <file>", "List entries, as stored with --json", entriesOptions, (args) => {
      const { file, json, noSave, type, customType, on, reverse } = args;
      const from = wholeNumber("from", args.from, 1);
      const limit = wholeNumber("limit", args.limit);
      const query = { type, customType, on, reverse, from, limit };
      choose({ name: "entries", options: { file, json, noSave, ...query } });
    })
    .command("tail <file>", "Show the last entries, and follow new ones", tailOptions, (args) => {
      const { file, json, noSave, follow, all } = args;
      if (args.from !== undefined && args.last !== undefined) {
        throw new UsageError("Give --from or --last.");
      }
      const from = wholeNumber("from", args.from, 1);
      const last = wholeNumber("last", args.last);
      choose({ name: "tail", options: { file, json, noSave, follow, all, from, last } });
    })
    .command("watch <dir>", "Show sessions, and follow their changes", watchOptions, (args) => {
      const { dir: directory, json, recursive, noSave } = args;
      choose({ name: "watch", options: { directory, json, recursive, noSave } });
    })
    .command("search <query> [dir]", "Find text in pi and omp sessions", searchOptions, (args) => {
      const limit = wholeNumber("limit", args.limit);
      const { query, dir: directory = ".", json, recursive } = args;
      const options = { query, directory, json, recursive, limit };
      choose({ name: "search", options });
    })
    .command("verify <file>", "Check every byte of a session", readingOptions, (args) => {
      choose({ name: "verify", options: args });
    });
}

function addWriters(parser: Argv, choose: Choose): void {
  parser
    .command(
      "repair <file>",
      "Show how a session can be repaired, or do it",
      repairOptions,
      (args) => {
        const { apply, cwd } = args;
        const output = newFile(args.output);
        if (apply && output !== undefined) throw new UsageError("Give --apply or --output.");
        choose({ name: "repair", options: { ...args, output, cwd } });
      },
    )
    .command("append <file> [drafts]", "Append entries", appendOptions, (args) => {
      const { file, json, drafts, allowUnknownType } = args;
      const source = draftSource(args, drafts);
      const options = { file, json, source, ...placeOf(args), allowUnknownType };
      choose({ name: "append", options });
    })
    .command("name <file> [text]", "Print or set the name of a session", nameOptions, (args) => {
      const { file, json, noSave, text, clear } = args;
      if (text !== undefined && clear) throw new UsageError("Give a name, or --clear.");
      choose({ name: "name", options: { file, json, noSave, text, clear } });
    })
    .command(
      "label <file> <id> [text]",
      "Label an entry, or clear its label",
      labelOptions,
      (args) => {
        const { file, json, id, text } = args;
        choose({ name: "label", options: { file, json, id, text } });
      },
    );
}

type RepairArguments = { apply: boolean; output: string | undefined };

function repairOptions(
  command: Argv,
): Argv<FileArguments & RepairArguments & { bridge: boolean; cwd: string | undefined }> {
  return fileOptions(command)
    .option("apply", {
      type: "boolean",
      default: false,
      describe: "Repair the session; the original stays as FILE.before-repair",
    })
    .option("output", {
      type: "string",
      requiresArg: true,
      describe: "Write the repaired session to this file; FILE is unchanged",
    })
    .option("bridge", {
      type: "boolean",
      default: false,
      describe: "Connect entries whose parent is lost to the entry before them",
    })
    .option("cwd", {
      type: "string",
      requiresArg: true,
      describe: "The working directory for a header that has to be rebuilt",
    });
}

type PlaceArguments = { parent: string; "expected-tail": string | undefined };
type SourceArguments = { user: string | undefined; entry: string | undefined };

function appendOptions(
  command: Argv,
): Argv<
  FileArguments &
    PlaceArguments &
    SourceArguments & { drafts: string | undefined; "allow-unknown-type": boolean }
> {
  return fileOptions(command)
    .positional("drafts", {
      type: "string",
      describe: "- reads drafts from standard input, one JSON object per line",
    })
    .option("user", { type: "string", requiresArg: true, describe: "Append a user message" })
    .option("entry", { type: "string", requiresArg: true, describe: "Append this draft (JSON)" })
    .option("parent", {
      type: "string",
      requiresArg: true,
      default: "leaf",
      describe: "Append below: leaf, tail, the id of an entry, or none for a new root",
    })
    .option("expected-tail", {
      type: "string",
      requiresArg: true,
      describe: "Append only if this is the id of the last entry, or none if there is none",
    })
    .option("allow-unknown-type", {
      type: "boolean",
      default: false,
      describe: "Append also types that are unknown and have no namespace",
    });
}

function nameOptions(
  command: Argv,
): Argv<ReadingArguments & { text: string | undefined; clear: boolean }> {
  return readingOptions(command)
    .positional("text", {
      type: "string",
      describe: "The new name; without it, the name is printed",
    })
    .option("clear", { type: "boolean", default: false, describe: "Clear the name" });
}

function labelOptions(
  command: Argv,
): Argv<FileArguments & { id: string; text: string | undefined }> {
  return fileOptions(command)
    .positional("id", { type: "string", demandOption: true, describe: "The id of the entry" })
    .positional("text", {
      type: "string",
      describe: "The label; without it, the label is cleared",
    });
}
