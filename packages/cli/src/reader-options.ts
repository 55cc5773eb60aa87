/** The options of the commands that only read, with their help texts. */
import type { Argv } from "./parser.ts";

/** Options of every command. */
export type FileArguments = { file: string; json: boolean };

/** Options of every command that reads a session. */
export type ReadingArguments = FileArguments & { "no-save": boolean };

/** Declares the options of every command. */
export function fileOptions<T>(command: Argv<T>): Argv<T & FileArguments> {
  return command
    .positional("file", {
      type: "string",
      demandOption: true,
      describe: "The session file, or the name or id of a session",
    })
    .option("json", { type: "boolean", default: false, describe: "Print JSON, for programs" });
}

/** Declares the options of every command that reads a session. */
export function readingOptions<T>(command: Argv<T>): Argv<T & ReadingArguments> {
  return noSaveOption(fileOptions(command));
}

/** Declares the options of every command that may save a checkpoint or catalog. */
export function noSaveOption<T>(command: Argv<T>): Argv<T & { "no-save": boolean }> {
  return command.option("no-save", {
    type: "boolean",
    default: false,
    describe: "Save no checkpoint or catalog of large sessions",
  });
}

/** Declares the options of `tree`. */
export function treeOptions(
  command: Argv,
): Argv<ReadingArguments & { all: boolean; depth: number | undefined }> {
  return readingOptions(command)
    .option("all", { type: "boolean", default: false, describe: "Every entry on its own line" })
    .option("depth", {
      type: "number",
      requiresArg: true,
      describe: "Levels of side branches to show; 0 for the main one only",
    });
}

/** Declares the options of `context`. */
export function contextOptions(
  command: Argv,
): Argv<ReadingArguments & { at: string | undefined; last: number | undefined; full: boolean }> {
  return readingOptions(command)
    .option("at", {
      type: "string",
      requiresArg: true,
      describe: "The id of an entry; default: the leaf",
    })
    .option("last", { type: "number", requiresArg: true, describe: "Only the last N messages" })
    .option("full", { type: "boolean", default: false, describe: "Shorten nothing" });
}

/** Declares the options of `turns`. */
export function turnsOptions(
  command: Argv,
): Argv<ReadingArguments & { turn: number | undefined; replay: number | undefined }> {
  return readingOptions(command)
    .option("turn", { type: "number", requiresArg: true, describe: "One turn, with its messages" })
    .option("replay", {
      type: "number",
      requiresArg: true,
      describe: "The messages given to the model when this turn began",
    });
}

/** Declares the options of `entries`. */
export function entriesOptions(command: Argv): Argv<
  ReadingArguments & {
    type: string | undefined;
    "custom-type": string | undefined;
    from: number | undefined;
    on: "log" | "branch";
    reverse: boolean;
    limit: number | undefined;
  }
> {
  const places = ["log", "branch"] as const;
  return readingOptions(command)
    .option("type", { type: "string", requiresArg: true, describe: "Only entries of this type" })
    .option("custom-type", {
      type: "string",
      requiresArg: true,
      describe: "Only entries of this extension",
    })
    .option("from", {
      type: "number",
      requiresArg: true,
      describe: "Start at this revision (from 1)",
    })
    .option("on", {
      choices: places,
      default: places[0],
      describe: "All entries in file order, or those on the path to the leaf",
    })
    .option("reverse", { type: "boolean", default: false, describe: "Last first" })
    .option("limit", { type: "number", requiresArg: true, describe: "At most so many" });
}

/** Declares the options of `tail`. */
export function tailOptions(command: Argv): Argv<
  ReadingArguments & {
    follow: boolean;
    from: number | undefined;
    last: number | undefined;
    all: boolean;
  }
> {
  return readingOptions(command)
    .option("follow", {
      alias: "f",
      type: "boolean",
      default: false,
      describe: "Follow new entries until interrupted",
    })
    .option("from", {
      type: "number",
      requiresArg: true,
      describe: "Start at this revision (from 1)",
    })
    .option("last", {
      alias: "n",
      type: "number",
      requiresArg: true,
      describe: "Start with the last N entries (10)",
    })
    .option("all", {
      type: "boolean",
      default: false,
      describe: "Include messages that agents hide",
    });
}

/** Declares the options of `watch`. */
export function watchOptions(
  command: Argv,
): Argv<{ dir: string; json: boolean; recursive: boolean; "no-save": boolean }> {
  return noSaveOption(command)
    .positional("dir", {
      type: "string",
      demandOption: true,
      describe: "The directory of the session files",
    })
    .option("recursive", {
      alias: "r",
      type: "boolean",
      default: false,
      describe: "Those in its sub-directories, too",
    })
    .option("json", { type: "boolean", default: false, describe: "Print JSON, for programs" });
}

/** Declares the options of `search`. */
export function searchOptions(command: Argv): Argv<{
  query: string;
  dir: string | undefined;
  json: boolean;
  recursive: boolean;
  limit: number | undefined;
}> {
  return command
    .positional("query", {
      type: "string",
      demandOption: true,
      describe: "The text to search for, ignoring case",
    })
    .positional("dir", {
      type: "string",
      describe: "A directory of pi, co-mono or omp sessions (default: this one), or one file",
    })
    .option("recursive", {
      alias: "r",
      type: "boolean",
      default: false,
      describe: "Those in its sub-directories, too",
    })
    .option("limit", { type: "number", requiresArg: true, describe: "At most so many" })
    .option("json", { type: "boolean", default: false, describe: "Print JSON, for programs" });
}
