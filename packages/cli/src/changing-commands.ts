/** The commands that change sessions or write new ones, declared. */
import { newFile, refuseBoth, sayWhere } from "./command-checks.ts";
import { foreignAgentNames } from "./session-filter.ts";
import type { AppendOptions, DraftSource } from "./commands/append.ts";
import { choice, command, flag, positional, required, text } from "./declaration.ts";
import type { Declared } from "./declaration.ts";
import { UsageError } from "./failure.ts";
import type { ExportFormat } from "./transfer-kinds.ts";
import { entry, file, json, noSave, output } from "./shared-options.ts";

export const changingCommands: readonly Declared[] = [
  command({
    usage: "repair <file>",
    about: "Show what can be repaired in a session, or repair it",
    isWriting: true,
    positionals: { file },
    options: {
      apply: flag("Repair the session; the original stays as FILE.before-repair"),
      output: text("OTHER", "Write the repaired session to this file; FILE is unchanged"),
      bridge: flag("Connect entries with a lost parent to the preceding entry"),
      cwd: text("DIR", "The working directory for a rebuilt header"),
      json,
    },
    examples: [
      ["repair work.jsonl", "lists what can be repaired; nothing is changed"],
      ["repair work.jsonl --apply", "repairs it, and keeps the original"],
    ],
    read: (args) => {
      const other = newFile(args.output);
      if (args.apply) refuseBoth("--apply", args.apply, "--output", other);
      return { ...args, output: other };
    },
    run: async (...given) => (await import("./commands/repair.ts")).repairCommand(...given),
  }),
  command({
    usage: "create <file>",
    about: "Create a session",
    isWriting: true,
    positionals: { file: required("The new session file, which must not exist yet", "path") },
    options: {
      name: text("TEXT", "The name of the session"),
      cwd: text("DIR", "The working directory of the session; default: the current one"),
      for: { ...choice(["pi", "omp"], "The target agent"), default: "pi" },
      json,
    },
    examples: [["create work.jsonl --name 'Fix the build'", "an empty session, to append to"]],
    read: (args) => ({ ...args, dialect: args.for }),
    run: async (...given) => (await import("./commands/create.ts")).createCommand(...given),
  }),
  command({
    usage: "append <file> [drafts]",
    about: "Append entries",
    isWriting: true,
    positionals: {
      file,
      drafts: positional("- reads drafts from standard input, one JSON object per line"),
    },
    options: {
      user: text("TEXT", "Append a user message"),
      entry: text("JSON", "Append this draft"),
      parent: {
        ...entry("The parent: leaf, tail, another entry, or none for a new root"),
        default: "leaf",
      },
      "expected-tail": entry(
        "Append only if this is the last entry; none: if there are no entries",
      ),
      "allow-unknown-type": flag("Also append unknown types without a namespace"),
      json,
    },
    examples: [
      ["append work.jsonl --user 'Go on with the cache'", "a user message"],
      [`append work.jsonl --entry '{"type":"custom","customType":"my:note"}'`, "any entry"],
      ["append work.jsonl - --json", "drafts from standard input, one per line"],
    ],
    read: (args) => ({ ...args, source: draftSource(args), ...placeOf(args) }),
    run: async (...given) => (await import("./commands/append.ts")).appendCommand(...given),
  }),
  command({
    usage: "name <file> [text]",
    about: "Print or set the name of a session",
    isWriting: true,
    positionals: { file, text: positional("The new name; without it, the name is printed") },
    options: { clear: flag("Clear the name"), json, "no-save": noSave },
    examples: [
      ["name work.jsonl", "prints it"],
      ["name work.jsonl 'Which cache?'", "sets it"],
    ],
    read: (args) => {
      if (args.text !== undefined && args.clear) {
        throw new UsageError("Give a name, or --clear.");
      }
      return args;
    },
    run: async (...given) => (await import("./commands/name.ts")).nameCommand(...given),
  }),
  command({
    usage: "label <file> <id> [text]",
    about: "Label an entry, or clear its label",
    isWriting: true,
    positionals: {
      file,
      id: required("The entry", "entry"),
      text: positional("The label; without it, the label is cleared"),
    },
    options: { json },
    examples: [
      ["label work.jsonl 5b2e9d04 'good state'", "labels an entry"],
      ["label work.jsonl @leaf 'good state'", "labels the current entry"],
      ["label work.jsonl 'good state'", "clears the label"],
    ],
    read: (args) => args,
    run: async (...given) => (await import("./commands/label.ts")).labelCommand(...given),
  }),
  command({
    usage: "fork <file>",
    about: "Create a session from one branch",
    isWriting: true,
    positionals: { file },
    options: {
      at: entry("The entry at which the fork ends; default: the last one"),
      output: output("Where to write it; default: a new name next to FILE"),
      json,
    },
    examples: [
      [
        "fork work.jsonl --at 5b2e -o try.jsonl",
        "continues from the entry whose id starts with 5b2e",
      ],
      ["fork work.jsonl --at 'good state'", "continues from a labelled entry"],
    ],
    read: (args) => ({ ...args, output: newFile(args.output) }),
    run: async (...given) => (await import("./commands/fork.ts")).forkCommand(...given),
  }),
  command({
    usage: "convert <file>",
    about: "Convert a session for another agent",
    isWriting: true,
    positionals: { file },
    options: {
      to: { ...choice(["pi", "omp"], "The target agent"), isRequired: true },
      output: { ...output("Where to write it"), isRequired: true },
      json,
    },
    examples: [["convert work.jsonl --to omp -o omp.jsonl", "a pi session for omp"]],
    read: (args) => ({ ...args, output: newFile(args.output) }),
    run: async (...given) => (await import("./commands/convert.ts")).convertCommand(...given),
  }),
  command({
    usage: "migrate <file>",
    about: "Migrate an old session to the current version",
    isWriting: true,
    positionals: { file },
    options: { json },
    examples: [["migrate old.jsonl", "from version 1 or 2 to 3; the original is kept"]],
    read: (args) => args,
    run: async (...given) => (await import("./commands/migrate.ts")).migrateCommand(...given),
  }),
  command({
    usage: "import <source>",
    about: "Import one or more sessions of another agent",
    isWriting: true,
    positionals: {
      source: required(
        "A session of another agent, an ATIF trajectory, or a directory or database",
        "path",
      ),
    },
    options: {
      output: output("The new session file, or a directory for several"),
      from: choice(
        [...foreignAgentNames, "atif"],
        "The source agent or format; default: detected from the content",
      ),
      json,
    },
    examples: [
      ["import transcript.jsonl -o work.jsonl", "one transcript"],
      ["import ~/.claude/projects -o imported", "all sessions below a directory"],
      ["import opencode.db#ses_4c1f -o work.jsonl", "one session of a database"],
      ["import trajectory.json -o work.jsonl", "an ATIF trajectory"],
    ],
    read: (args) => {
      const target = newFile(args.output);
      if (target === undefined) throw new UsageError(sayWhere);
      return { ...args, output: target };
    },
    run: async (...given) => (await import("./commands/import.ts")).importCommand(...given),
  }),
  command({
    usage: "store <action> <places..>",
    about: "Keep sessions in PostgreSQL: init, ls, push, pull, rm",
    isWriting: true,
    positionals: {
      action: {
        ...choice(
          ["init", "ls", "push", "pull", "recover", "rm"],
          "init, ls, push, pull, recover or rm",
        ),
        isRequired: true,
      },
      places: {
        ...required(
          "The address of a store, or of a session in it with #NAME; for push, after the files",
        ),
        isRepeated: true,
      },
    },
    options: {
      name: text("NAME", "The name of the session in the store; default: that of the file"),
      output: output("The new file for a pulled session"),
      yes: { ...flag("Remove it permanently"), letter: "y" },
      json,
    },
    examples: [
      [
        "store init postgres://me@db/team",
        "turns the database into a store; its owner does this once",
      ],
      ["store push *.jsonl postgres://me@db/team", "stores files as sessions"],
      [
        "store pull 'postgres://me@db/team#work' -o work.jsonl",
        "writes one to a file, byte for byte",
      ],
      [
        "store recover 'postgres://me@db/team#work'",
        "stores again what a failover lost, if a session has it",
      ],
    ],
    read: (args) => ({ ...args, output: newFile(args.output) }),
    run: async (...given) => (await import("./commands/store.ts")).storeCommand(...given),
  }),
  command({
    usage: "export <file>",
    about: "Export sessions in another format",
    isWriting: true,
    positionals: { file },
    options: {
      to: choice(
        ["markdown", "html", "pi", "atif", "hf", "sharegpt", "connectonion"],
        "The format; default: that of FILE, .md, .html, .jsonl, .json or .yaml",
      ),
      output: output("The new file, or directory for several; default, or with -: standard output"),
      at: entry("The entry where the path ends; default: the last one"),
      redact: flag("Replace secrets with markers and omit images"),
      json,
    },
    examples: [
      ["export work.jsonl -o work.md", "a transcript to read"],
      ["export work.jsonl -o work.html --redact", "all branches, as a page to share"],
      ["export work.jsonl --redact -o shared.md", "a transcript without its secrets"],
      ["export work.jsonl -o trajectory.json", "an ATIF 1.8 trajectory for evaluations"],
      [
        "export ~/.claude/projects --to hf --redact -o dataset",
        "all sessions, as a dataset for a hub",
      ],
      ["export work.jsonl --to pi --at 5b2e9d06", "one path as a log, to standard output"],
    ],
    read: (args) => {
      const target = args.output === "" || args.output === "-" ? undefined : args.output;
      return { ...args, to: args.to ?? formOf(target), output: target };
    },
    run: async (...given) => (await import("./commands/export.ts")).exportCommand(...given),
  }),
];

/** @throws UsageError if the file name implies no format. */
function formOf(target: string | undefined): ExportFormat {
  const form = forms.find(([ending]) => target !== undefined && ending.test(target));
  if (form !== undefined) return form[1];
  throw new UsageError(
    "Give the format: --to markdown, html, pi, atif, hf, sharegpt or connectonion, or -o FILE.md.",
  );
}

const forms: readonly (readonly [RegExp, ExportFormat])[] = [
  [/\.(?:md|markdown)$/iu, "markdown"],
  [/\.html?$/iu, "html"],
  [/\.jsonl$/iu, "pi"],
  [/\.json$/iu, "atif"],
  [/\.ya?ml$/iu, "connectonion"],
];

function draftSource({
  user,
  entry: given,
  drafts,
}: Readonly<Record<"user" | "entry" | "drafts", string | undefined>>): DraftSource {
  const sources = [user, given, drafts].filter((source) => source !== undefined);
  if (sources.length !== 1)
    throw new UsageError("Give one of --user, --entry and - (standard input).");
  if (user !== undefined) return { kind: "user", text: user };
  if (given !== undefined) return { kind: "entry", json: given };
  if (drafts === "-") return { kind: "input" };
  throw new UsageError(`${drafts} is not a source of entries. Did you mean --user?`);
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
