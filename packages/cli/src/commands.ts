/**
 * Every command, declared once: its name, its arguments with help texts, the checks beyond those of
 * the parser, and the module that runs it, which is loaded only then.
 */
import type { CommandIo, CommandResult } from "./command-io.ts";
import type { AppendOptions, DraftSource } from "./commands/append.ts";
import { UsageError } from "./failure.ts";
import { agentNames, searchedKinds, sortNames } from "./session-filter.ts";
import { isOption, optionWords } from "./marked-words.ts";
import type { Words } from "./marked-words.ts";
import type { Argv, ParsedValues } from "./parser.ts";

export interface Command {
  readonly name: string;
  readonly options: { readonly json: boolean };
  /** Whether it writes more than checkpoints and catalogs, so that an interrupt lets it end. */
  readonly isWriting: boolean;
  readonly run: (io: CommandIo) => Promise<CommandResult>;
}

type Choose = (command: Command) => void;

interface Declaration<Args, Options> {
  readonly usage: string;
  readonly about: string;
  readonly isWriting?: boolean;
  readonly args: (parser: Argv) => Argv<Args>;
  /** @throws UsageError */
  readonly read: (args: ParsedValues<Args>, words: Words) => Options;
  readonly run: (options: Options, io: CommandIo) => Promise<CommandResult>;
}

interface Declared {
  readonly name: string;
  readonly declare: (parser: Argv, words: Words, choose: Choose) => void;
}

function command<Args, Options extends { readonly json: boolean }>({
  usage,
  about,
  isWriting = false,
  args,
  read,
  run,
}: Declaration<Args, Options>): Declared {
  const [name = usage] = usage.split(" ");
  return {
    name,
    declare: (parser, words, choose) => {
      parser.command(usage, about, args, (values) => {
        const options = read(values, words);
        choose({ name, options, isWriting, run: (io) => run(options, io) });
      });
    },
  };
}

function flag(describe: string): { type: "boolean"; default: boolean; describe: string } {
  return { type: "boolean", default: false, describe };
}

function text(describe: string): { type: "string"; requiresArg: true; describe: string } {
  return { type: "string", requiresArg: true, describe };
}

function number(describe: string): { type: "number"; requiresArg: true; describe: string } {
  return { type: "number", requiresArg: true, describe };
}

function positional(describe: string): { type: "string"; describe: string } {
  return { type: "string", describe };
}

function required(describe: string): { type: "string"; demandOption: true; describe: string } {
  return { type: "string", demandOption: true, describe };
}

const json = flag("Print JSON, for programs");
const noSave = flag("Save no checkpoint or catalog of large sessions");
const recursive = { ...flag("Those in its sub-directories, too"), alias: "r" };
const from = number("Start at this revision (from 1)");
const limit = number("At most so many");
const agent = text(`Only of these agents, separated by commas: ${agentNames.join(", ")}`);
const since = text("Only what changed since: 30m, 12h, 7d, 2w, or a date");

function onFile(parser: Argv): Argv<{ file: string; json: boolean }> {
  return parser
    .positional("file", required("The session file, or the name or id of a session"))
    .option("json", json);
}

function onRead(parser: Argv): Argv<{ file: string; json: boolean; "no-save": boolean }> {
  return onFile(parser).option("no-save", noSave);
}

const commands: readonly Declared[] = [
  command({
    usage: "info <file>",
    about: "Show the facts of a session",
    args: onRead,
    read: (args) => args,
    run: async (...given) => (await import("./commands/info.ts")).infoCommand(...given),
  }),
  command({
    usage: "tree <file>",
    about: "Show the branches of a session",
    args: (parser) =>
      onRead(parser)
        .option("all", flag("Every entry on its own line"))
        .option("depth", number("Levels of side branches to show; 0 for the main one only")),
    read: (args) => {
      const depth = wholeNumber("depth", args.depth);
      if (args.json && depth !== undefined) throw new UsageError("--json lists the whole tree.");
      return { ...args, depth };
    },
    run: async (...given) => (await import("./commands/tree.ts")).treeCommand(...given),
  }),
  command({
    usage: "context <file>",
    about: "Show what the model would get",
    args: (parser) =>
      onRead(parser)
        .option("at", text("The id of an entry; default: the leaf"))
        .option("last", number("Only the last N messages"))
        .option("full", flag("Shorten nothing")),
    read: (args) => ({ ...args, at: args.at, last: wholeNumber("last", args.last) }),
    run: async (...given) => (await import("./commands/context.ts")).contextCommand(...given),
  }),
  command({
    usage: "turns <file>",
    about: "List turns: asked, answered, spent",
    args: (parser) =>
      onRead(parser)
        .option("turn", number("One turn, with its messages"))
        .option("replay", number("The messages given to the model when this turn began")),
    read: (args) => {
      const turn = wholeNumber("turn", args.turn, 1);
      const replay = wholeNumber("replay", args.replay, 1);
      refuseBoth("--turn", turn, "--replay", replay);
      return { ...args, turn, replay };
    },
    run: async (...given) => (await import("./commands/turns.ts")).turnsCommand(...given),
  }),
  command({
    usage: "entries <file>",
    about: "List entries, as stored with --json",
    args: (parser) =>
      onRead(parser)
        .option("type", text("Only entries of this type"))
        .option("custom-type", text("Only entries of this extension"))
        .option("from", from)
        .option("on", {
          choices: ["log", "branch"] as const,
          default: "log" as const,
          describe: "All entries in file order, or those on the path to the leaf",
        })
        .option("reverse", flag("Last first"))
        .option("limit", limit),
    read: (args) => ({
      ...args,
      type: args.type,
      customType: args.customType,
      from: wholeNumber("from", args.from, 1),
      limit: wholeNumber("limit", args.limit),
    }),
    run: async (...given) => (await import("./commands/entries.ts")).entriesCommand(...given),
  }),
  command({
    usage: "tail <file>",
    about: "Show the last entries, and follow new ones",
    args: (parser) =>
      onRead(parser)
        .option("follow", { ...flag("Follow new entries until interrupted"), alias: "f" })
        .option("from", from)
        .option("last", { ...number("Start with the last N entries (10)"), alias: "n" })
        .option("all", flag("Include messages that agents hide")),
    read: (args) => {
      refuseBoth("--from", args.from, "--last", args.last);
      const last = wholeNumber("last", args.last);
      return { ...args, from: wholeNumber("from", args.from, 1), last };
    },
    run: async (...given) => (await import("./commands/tail.ts")).tailCommand(...given),
  }),
  command({
    usage: "watch [dir]",
    about: "Show sessions, and follow their changes",
    args: (parser) =>
      parser
        .option("no-save", noSave)
        .positional(
          "dir",
          positional("The directory of the sessions; default: all that agents keep, live"),
        )
        .option("recursive", recursive)
        .option("json", json),
    read: (args) => ({ ...args, directory: args.dir }),
    run: async (...given) => (await import("./commands/watch.ts")).watchCommand(...given),
  }),
  command({
    usage: "search <query> [place]",
    about: "Find text in the sessions of every agent",
    args: (parser) =>
      parser
        .positional("query", required("The text to search for, ignoring case"))
        .positional(
          "place",
          positional(
            "A directory, with all below, or a session; default: where agents keep theirs",
          ),
        )
        .option("in", {
          ...text(`Only there, separated by commas: ${searchedKinds.join(", ")}`),
        })
        .option("role", text("Only messages of this role: user, assistant, toolResult, ..."))
        .option("tool", text("Only calls of this tool, and their results"))
        .option("regex", { ...flag("The text is a regular expression"), alias: "E" })
        .option("agent", agent)
        .option("since", since)
        .option("context", { ...number("Show whole lines, with N before and after"), alias: "C" })
        .option("limit", limit)
        .option("json", json),
    read: (args) => ({
      ...args,
      place: args.place,
      kinds: oneOfEach("in", args.in, searchedKinds),
      role: args.role,
      tool: args.tool,
      agents: oneOfEach("agent", args.agent, agentNames),
      changedSince: args.since,
      context: wholeNumber("context", args.context),
      limit: wholeNumber("limit", args.limit),
    }),
    run: async (...given) => (await import("./commands/search.ts")).searchCommand(...given),
  }),
  command({
    usage: "verify <file>",
    about: "Check every byte of a session",
    args: onRead,
    read: (args) => args,
    run: async (...given) => (await import("./commands/verify.ts")).verifyCommand(...given),
  }),
  command({
    usage: "repair <file>",
    about: "Show how a session can be repaired, or do it",
    isWriting: true,
    args: (parser) =>
      onFile(parser)
        .option("apply", flag("Repair the session; the original stays as FILE.before-repair"))
        .option("output", text("Write the repaired session to this file; FILE is unchanged"))
        .option("bridge", flag("Connect entries whose parent is lost to the entry before them"))
        .option("cwd", text("The working directory for a header that has to be rebuilt")),
    read: (args) => {
      const output = newFile(args.output);
      if (args.apply) refuseBoth("--apply", args.apply, "--output", output);
      return { ...args, output, cwd: args.cwd };
    },
    run: async (...given) => (await import("./commands/repair.ts")).repairCommand(...given),
  }),
  command({
    usage: "append <file> [drafts]",
    about: "Append entries",
    isWriting: true,
    args: (parser) =>
      onFile(parser)
        .positional(
          "drafts",
          positional("- reads drafts from standard input, one JSON object per line"),
        )
        .option("user", text("Append a user message"))
        .option("entry", text("Append this draft (JSON)"))
        .option("parent", {
          ...text("Append below: leaf, tail, the id of an entry, or none for a new root"),
          default: "leaf",
        })
        .option(
          "expected-tail",
          text("Append only if this is the id of the last entry, or none if there is none"),
        )
        .option(
          "allow-unknown-type",
          flag("Append also types that are unknown and have no namespace"),
        ),
    read: (args) => ({ ...args, source: draftSource(args), ...placeOf(args) }),
    run: async (...given) => (await import("./commands/append.ts")).appendCommand(...given),
  }),
  command({
    usage: "name <file> [text]",
    about: "Print or set the name of a session",
    isWriting: true,
    args: (parser) =>
      onRead(parser)
        .positional("text", positional("The new name; without it, the name is printed"))
        .option("clear", flag("Clear the name")),
    read: (args) => {
      if (args.text !== undefined && args.clear) {
        throw new UsageError("Give a name, or --clear.");
      }
      return { ...args, text: args.text };
    },
    run: async (...given) => (await import("./commands/name.ts")).nameCommand(...given),
  }),
  command({
    usage: "label <file> <id> [text]",
    about: "Label an entry, or clear its label",
    isWriting: true,
    args: (parser) =>
      onFile(parser)
        .positional("id", required("The id of the entry"))
        .positional("text", positional("The label; without it, the label is cleared")),
    read: (args) => ({ ...args, text: args.text }),
    run: async (...given) => (await import("./commands/label.ts")).labelCommand(...given),
  }),
  command({
    usage: "list [dir]",
    about: "List the sessions of every agent",
    args: (parser) =>
      parser
        .option("no-save", noSave)
        .positional(
          "dir",
          positional(
            "A directory, or a session; default: where pi, co-mono, omp, ConnectOnion, Claude " +
              "Code and Codex keep theirs",
          ),
        )
        .option("all", flag("List transcripts of subagents by themselves"))
        .option("agent", agent)
        .option("since", since)
        .option("limit", limit)
        .option("sort", {
          choices: sortNames,
          default: "modified" as const,
          describe: "The order of the sessions",
        })
        .option("json", json),
    read: (args) => {
      const { dir: directory, since: changedSince } = args;
      const agents = oneOfEach("agent", args.agent, agentNames);
      return { ...args, directory, agents, changedSince, limit: wholeNumber("limit", args.limit) };
    },
    run: async (...given) => (await import("./commands/list.ts")).listCommand(...given),
  }),
  command({
    usage: "fork <file>",
    about: "Make a new session of one branch",
    isWriting: true,
    args: (parser) =>
      onFile(parser)
        .option("at", text("The entry at which the fork ends; default: the last one"))
        .option("output", {
          ...text("Where to write it; default: beside FILE, under a new name"),
          alias: "o",
        }),
    read: (args) => ({ ...args, at: args.at, output: newFile(args.output) }),
    run: async (...given) => (await import("./commands/fork.ts")).forkCommand(...given),
  }),
  command({
    usage: "convert <file>",
    about: "Write a session for another agent",
    isWriting: true,
    args: (parser) =>
      onFile(parser)
        .option("to", {
          choices: ["pi", "omp"] as const,
          demandOption: true,
          describe: "The agent it is for",
        })
        .option("output", { ...text("Where to write it"), alias: "o", demandOption: true }),
    read: (args) => ({ ...args, output: newFile(args.output) }),
    run: async (...given) => (await import("./commands/convert.ts")).convertCommand(...given),
  }),
  command({
    usage: "migrate <file>",
    about: "Migrate an old session to the current version",
    isWriting: true,
    args: onFile,
    read: (args) => args,
    run: async (...given) => (await import("./commands/migrate.ts")).migrateCommand(...given),
  }),
  command({
    usage: "delete <sessions..>",
    about: "Delete sessions, after asking",
    isWriting: true,
    args: (parser) =>
      parser
        .positional("sessions", {
          ...required("Session files, or names or ids of sessions"),
          array: true,
        })
        .option("yes", { ...flag("Do not ask"), alias: "y" })
        .option("force", flag("Delete even while another process holds the lock"))
        .option("json", json),
    read: (args, words) => ({ ...args, sessions: sessionWords(words) }),
    run: async (...given) => (await import("./commands/delete.ts")).deleteCommand(...given),
  }),
  command({
    usage: "import <source>",
    about: "Import a session of another agent, or many",
    isWriting: true,
    args: (parser) =>
      parser
        .positional("source", {
          type: "string",
          demandOption: true,
          describe:
            "A session of Claude Code, Codex or ConnectOnion, or a directory of the former two",
        })
        .option("output", { ...text("The new session file, or their directory"), alias: "o" })
        .option("from", {
          ...text("The agent of the source; default: recognised by its content"),
          choices: ["claude", "codex", "connectonion"] as const,
        })
        .option("json", json),
    read: (args) => {
      const output = newFile(args.output);
      if (output === undefined) throw new UsageError(sayWhere);
      return { ...args, output, from: args.from };
    },
    run: async (...given) => (await import("./commands/import.ts")).importCommand(...given),
  }),
  command({
    usage: "export <file>",
    about: "Write a session in another form",
    isWriting: true,
    args: (parser) =>
      onFile(parser)
        .option("to", {
          ...text("The form"),
          choices: ["markdown", "pi", "connectonion"] as const,
          demandOption: true,
        })
        .option("output", {
          ...text("The new file; without it, or with -, standard output"),
          alias: "o",
        })
        .option("at", text("The id of the entry where the path ends; default: the last one")),
    read: (args) => {
      const output = args.output === "" || args.output === "-" ? undefined : args.output;
      return { ...args, output, at: args.at };
    },
    run: async (...given) => (await import("./commands/export.ts")).exportCommand(...given),
  }),
];

export const commandNames: readonly string[] = commands.map(({ name }) => name);

export function addCommands(parser: Argv, words: Words, choose: Choose): void {
  for (const { declare } of commands) declare(parser, words, choose);
}

function refuseBoth(one: string, its: unknown, other: string, others: unknown): void {
  if (its !== undefined && others !== undefined) throw new UsageError(`Give ${one} or ${other}.`);
}

/** The words of a list that is separated by commas; undefined: all that there are. */
function oneOfEach<T extends string>(
  name: string,
  given: string | undefined,
  all: readonly T[],
): readonly T[] | undefined {
  return given?.split(",").map((word) => {
    const found = all.find((one) => one === word.trim());
    if (found !== undefined) return found;
    throw new UsageError(`--${name} takes ${all.join(", ")}, separated by commas, not ${word}.`);
  });
}

function wholeNumber(name: string, value: number | undefined, least = 0): number | undefined {
  if (value === undefined || (Number.isSafeInteger(value) && value >= least)) return value;
  throw new UsageError(`--${name} takes a whole number from ${least}.`);
}

const sayWhere = "Say where the session goes: -o FILE, which must not exist yet.";

/**
 * Standard output is refused: a session is written under a name in one step. (yargs turns most lone
 * dashes into an empty text.)
 */
function newFile<T extends string | undefined>(output: T): T {
  if (output === "" || output === "-") throw new UsageError(sayWhere);
  return output;
}

function draftSource({
  user,
  entry,
  drafts,
}: Readonly<Record<"user" | "entry" | "drafts", string | undefined>>): DraftSource {
  const given = [user, entry, drafts].filter((source) => source !== undefined);
  if (given.length !== 1)
    throw new UsageError("Give one of --user, --entry and - (standard input).");
  if (user !== undefined) return { kind: "user", text: user };
  if (entry !== undefined) return { kind: "entry", json: entry };
  if (drafts === "-") return { kind: "input" };
  throw new UsageError(`${drafts} is no source of entries. Did you mean --user?`);
}

/** `none` means no entry. */
function placeOf({
  parent,
  expectedTail,
}: {
  readonly parent: string;
  readonly expectedTail: string | undefined;
}): Pick<AppendOptions, "parent" | "expectedTail"> {
  const isWord = parent === "leaf" || parent === "tail";
  return {
    parent: isWord ? parent : { id: parent === "none" ? null : parent },
    expectedTail: expectedTail === "none" ? null : expectedTail,
  };
}

/**
 * For a single positional given repeatedly, the parser would keep the last one. All options of this
 * command are flags, so its other words are sessions, also if its name is behind `--`.
 */
function sessionWords(words: Words): string[] {
  const before = optionWords(words);
  const behind = words.slice(before.length + 1);
  return [...before.filter((word) => !isOption(word)), ...behind].slice(1);
}
