/** The commands that read sessions, declared. */
import { oneOfEach, refuseBoth } from "./command-checks.ts";
import { choice, command, flag, number, positional, required, text } from "./declaration.ts";
import type { Declared } from "./declaration.ts";
import { UsageError } from "./failure.ts";
import { agentNames, searchedKinds, sortNames } from "./session-filter.ts";
import {
  agent,
  entry,
  estimate,
  file,
  from,
  json,
  limit,
  noSave,
  since,
  until,
} from "./shared-options.ts";

const common = { json, "no-save": noSave };

export const readingCommands: readonly Declared[] = [
  command({
    usage: "list [dir]",
    about: "List the sessions of every agent",
    isPaged: true,
    positionals: {
      dir: positional("A directory, or a session; default: where agents keep sessions", "session"),
    },
    options: {
      all: flag("List subagent transcripts separately"),
      archived: flag("List the archived sessions instead"),
      agent,
      since,
      until,
      limit,
      sort: { ...choice(sortNames, "The order of the sessions"), default: "modified" },
      estimate,
      ...common,
    },
    examples: [
      ["list --since today", "today's sessions"],
      ["list --agent claude,codex --sort tokens -n 10", "the ten with the most tokens"],
      ["list --json", "one object per session, for a program"],
    ],
    read: (args) => {
      const { dir: directory } = args;
      refuseBoth("DIR", directory, "--archived", args.archived || undefined);
      const agents = oneOfEach("agent", args.agent, agentNames);
      return { ...args, directory, agents, changed: { since: args.since, until: args.until } };
    },
    run: async (...given) => (await import("./commands/list.ts")).listCommand(...given),
  }),
  command({
    usage: "info <file>",
    about: "Show the facts of a session",
    isPaged: true,
    positionals: { file },
    options: { estimate, ...common },
    examples: [
      ["info work.jsonl", "a file"],
      ["info 'Fix the login test'", "the session with this name"],
      ["info 01973400 --json", "as JSON, the session whose id starts with it"],
    ],
    read: (args) => args,
    run: async (...given) => (await import("./commands/info.ts")).infoCommand(...given),
  }),
  command({
    usage: "pi [words..]",
    about: "Start pi with its sessions on Branchlog",
    positionals: { words: { ...positional("Arguments for pi"), isRepeated: true } },
    options: {
      force: flag("Also start an untested version; options go before the arguments for pi"),
      "dry-run": flag("Print the command instead of running it"),
      json,
    },
    examples: [
      ["pi", "a new session, in pi"],
      ["pi --continue", "passes arguments to pi"],
    ],
    read: (args) => ({ ...args, words: args.words ?? [] }),
    run: async (...given) => (await import("./commands/pi.ts")).piCommand(...given),
  }),
  command({
    usage: "resume <file>",
    about: "Continue a session in its agent",
    positionals: { file },
    options: {
      "dry-run": { ...flag("Print the command instead of running it"), formerly: ["print"] },
      json,
    },
    examples: [
      ["resume @latest", "the most recently changed session"],
      ["resume 01973400 --dry-run", "the command, with its directory"],
    ],
    read: (args) => args,
    run: async (...given) => (await import("./commands/resume.ts")).resumeCommand(...given),
  }),
  command({
    usage: "tree <file>",
    about: "Show the branches of a session",
    isPaged: true,
    positionals: { file },
    options: {
      all: flag("Every entry on its own line"),
      depth: number("Levels of side branches to show; 0 for the main one only"),
      ...common,
    },
    examples: [
      ["tree work.jsonl", "all branches"],
      ["tree work.jsonl --depth 0", "only the main branch"],
    ],
    read: (args) => {
      if (args.json && args.depth !== undefined)
        throw new UsageError("--json lists the whole tree.");
      return args;
    },
    run: async (...given) => (await import("./commands/tree.ts")).treeCommand(...given),
  }),
  command({
    usage: "context <file>",
    about: "Show the context of the model",
    isPaged: true,
    positionals: { file },
    options: {
      at: entry("At this entry; default: the leaf"),
      limit: { ...limit, least: 0, describe: "Only the last N messages", formerly: ["last"] },
      full: flag("Do not shorten anything"),
      ...common,
    },
    examples: [
      ["context work.jsonl -n 3", "the last three messages"],
      ["context work.jsonl --at 5b2e9d06 --json", "the full context at an entry"],
    ],
    read: (args) => ({ ...args, last: args.limit }),
    run: async (...given) => (await import("./commands/context.ts")).contextCommand(...given),
  }),
  command({
    usage: "turns <file>",
    about: "List turns: prompt, answer, cost",
    isPaged: true,
    positionals: { file },
    options: {
      turn: number("One turn, with its messages", 1),
      replay: number("The messages given to the model when this turn began", 1),
      estimate,
      ...common,
    },
    examples: [
      ["turns work.jsonl", "prompt, answer and cost of each turn"],
      ["turns work.jsonl --turn 2", "the second one, with its messages"],
    ],
    read: (args) => {
      refuseBoth("--turn", args.turn, "--replay", args.replay);
      return args;
    },
    run: async (...given) => (await import("./commands/turns.ts")).turnsCommand(...given),
  }),
  command({
    usage: "entries <file>",
    about: "List entries, as stored with --json",
    isPaged: true,
    positionals: { file },
    options: {
      type: text("TYPE", "Only entries of this type"),
      "custom-type": text("TYPE", "Only entries of this extension"),
      from,
      on: {
        ...choice(["log", "branch"], "All entries in file order, or those on the path to the leaf"),
        default: "log",
      },
      reverse: flag("In reverse order"),
      limit: { ...limit, least: 0 },
      ...common,
    },
    examples: [
      ["entries work.jsonl --type compaction", "where the context was shortened"],
      ["entries work.jsonl --custom-type todo --reverse -n 1 --json", "the state of an extension"],
    ],
    read: (args) => args,
    run: async (...given) => (await import("./commands/entries.ts")).entriesCommand(...given),
  }),
  command({
    usage: "tail <file>",
    about: "Show the last entries, and follow new ones",
    positionals: { file },
    options: {
      follow: { ...flag("Follow new entries until interrupted"), letter: "f" },
      from,
      limit: {
        ...limit,
        least: 0,
        describe: "Start with the last N entries (10)",
        formerly: ["last"],
      },
      all: flag("Include messages that agents hide"),
      ...common,
    },
    examples: [
      ["tail work.jsonl -f", "what an agent does, live"],
      ["tail work.jsonl -f -n 0 --json", "only new entries, for a program"],
    ],
    read: (args) => {
      refuseBoth("--from", args.from, "--limit", args.limit);
      return { ...args, last: args.limit };
    },
    run: async (...given) => (await import("./commands/tail.ts")).tailCommand(...given),
  }),
  command({
    usage: "watch [dir]",
    about: "Show sessions, and follow their changes",
    positionals: {
      dir: positional(
        "The directory of the sessions; default: all sessions of agents, live",
        "path",
      ),
    },
    options: {
      recursive: { ...flag("Include its subdirectories"), letter: "r" },
      ...common,
    },
    examples: [
      ["watch", "every session of every agent, as it changes"],
      ["watch ~/.pi/agent/sessions -r", "those of one agent"],
    ],
    read: (args) => ({ ...args, directory: args.dir }),
    run: async (...given) => (await import("./commands/watch.ts")).watchCommand(...given),
  }),
  command({
    usage: "search <query> [place]",
    about: "Find text in the sessions of every agent",
    positionals: {
      query: required("Words that all occur; quoted words count as one; ignoring case"),
      place: positional(
        "A directory (recursive), or a session; default: where agents keep sessions",
        "session",
      ),
    },
    options: {
      in: text("KINDS", `Only in these, separated by commas: ${searchedKinds.join(", ")}`),
      role: text("ROLE", "Only messages of this role: user, assistant, toolResult, ..."),
      tool: text("NAME", "Only calls of this tool, and their results"),
      exact: { ...flag("Search for the exact text instead of its words"), letter: "F" },
      regex: { ...flag("The text is an RE2 regular expression"), letter: "E" },
      sort: choice(["rank", "time"], "The best hit of each session, or all hits, latest first"),
      project: text("DIR", "Only sessions that worked in this directory, or below"),
      path: text("FILE", "Only sessions with a call that names this file or directory"),
      branch: text("ENTRY", "Only on the branch to this entry; leaf: the leaf of each session"),
      archived: flag("Search the archived sessions instead"),
      agent,
      since,
      until,
      context: { ...number("Show full lines, with N before and after"), letter: "C" },
      limit,
      "no-index": flag("Read all files instead of the index"),
      json,
    },
    examples: [
      ["search 'rate limit' --since 7d", "in sessions of the last week"],
      ["search timeout @latest", "every hit in the most recently changed session"],
      ["search -E 'retry|timeout' --tool edit", "a regular expression, in edits"],
      [
        "search timeout --path src/net.ts --branch leaf",
        "in sessions about a file, on their current branch",
      ],
      ["search -- --frozen-lockfile", "a text that starts with a dash"],
    ],
    read: (args) => ({
      ...args,
      place: archivedOr(args.place, args.archived),
      kinds: oneOfEach("in", args.in, searchedKinds),
      agents: oneOfEach("agent", args.agent, agentNames),
      changed: { since: args.since, until: args.until },
    }),
    run: async (...given) => (await import("./commands/search.ts")).searchCommand(...given),
  }),
  command({
    usage: "index [action] [places..]",
    about: "Show, update or drop the search index",
    isWriting: true,
    positionals: {
      action: {
        ...positional("update, check or drop; default: show it"),
        choices: ["update", "check", "drop"],
      },
      places: {
        ...positional("What to index; default: where agents keep sessions", "session"),
        isRepeated: true,
      },
    },
    options: { json },
    examples: [
      ["index", "its size and its age"],
      ["index update", "index what is missing; an interrupt keeps finished work"],
      ["index drop", "remove it; sessions are unaffected"],
    ],
    read: (args) => args,
    run: async (...given) => (await import("./commands/index-command.ts")).indexCommand(...given),
  }),
  command({
    usage: "doctor",
    about: "Show versions, places, sizes, locks and problems, for bug reports",
    positionals: {},
    options: { json },
    examples: [["doctor --json", "for an issue; without any text of sessions"]],
    read: (args) => args,
    run: async (...given) => (await import("./commands/doctor.ts")).doctorCommand(...given),
  }),
  command({
    usage: "verify <files..>",
    about: "Check every byte of sessions",
    isPaged: true,
    positionals: {
      files: {
        ...required("Session files, names or ids, or directories (recursive)", "session"),
        isRepeated: true,
      },
    },
    options: common,
    examples: [
      ["verify work.jsonl", "all damage, with its position"],
      ["verify ~/.pi/agent/sessions", "every session below, one line each"],
    ],
    read: (args) => args,
    run: async (...given) => (await import("./commands/verify.ts")).verifyCommand(...given),
  }),
  command({
    usage: "diff <file> [from] [to]",
    about: "Compare two branches, or two contexts",
    isPaged: true,
    positionals: {
      file,
      from: positional("An entry of FILE; default with --with: its leaf", "entry"),
      to: positional("The entry to compare it with; default: the leaf", "entry"),
    },
    options: {
      with: {
        ...text("OTHER", "Compare with this session; default entry: its leaf"),
        takes: "session" as const,
      },
      context: flag("Compare the contexts of the model, message by message"),
      full: flag("Do not shorten messages of a context"),
      ...common,
    },
    examples: [
      ["diff work.jsonl 5b2e9d06", "what two branches of a session do not share"],
      ["diff parent.jsonl --with fork.jsonl", "a fork and its parent"],
      ["diff work.jsonl @leaf~4 --context", "what a compaction changed in the context"],
    ],
    read: (args) => {
      if (args.from === undefined && args.with === undefined) {
        throw new UsageError(
          "Specify what to compare: an entry, or another session with --with OTHER.",
        );
      }
      return { ...args, other: args.with };
    },
    run: async (...given) => (await import("./commands/diff.ts")).diffCommand(...given),
  }),
  command({
    usage: "stats [place]",
    about: "Add up tokens and costs of all sessions",
    isPaged: true,
    positionals: {
      place: positional(
        "A directory (recursive), or a session; default: where agents keep sessions",
        "session",
      ),
    },
    options: {
      by: choice(["project", "day", "model", "agent"], "One line for each"),
      agent,
      since: { ...since, describe: since.describe.replace("changed", "was spent") },
      until: { ...until, describe: until.describe.replace("changed", "was spent") },
      limit,
      "fold-worktrees": {
        ...flag("Count worktrees as their repository; with =false, separately"),
        default: true,
      },
      estimate,
      csv: flag("Print CSV, for spreadsheets"),
      ...common,
    },
    examples: [
      ["stats --by day --since monday", "what each day cost"],
      ["stats --by model --agent pi,omp", "by model, of two agents"],
      ["stats --by project --csv", "for a spreadsheet"],
    ],
    read: (args) => {
      if (args.csv && args.json) throw new UsageError("Give --csv or --json.");
      if (args.csv && args.estimate) throw new UsageError("--csv has only stored costs.");
      const agents = oneOfEach("agent", args.agent, agentNames);
      return { ...args, agents, changed: { since: args.since, until: args.until } };
    },
    run: async (...given) => (await import("./commands/stats.ts")).statsCommand(...given),
  }),
  command({
    usage: "serve [places..]",
    about: "Show sessions in the browser, live",
    // It closes what it has open when it is interrupted.
    isWriting: true,
    positionals: {
      places: {
        ...positional(
          "Directories, sessions or the address of a store; default: where agents keep sessions",
          "path",
        ),
        isRepeated: true,
      },
    },
    options: {
      port: number("The port; default: a free one"),
      host: text("HOST", "The address to listen on; default: 127.0.0.1"),
      write: flag("Let the page label, name, fork and delete sessions"),
      open: flag("Open the page in the browser"),
      json,
    },
    examples: [
      ["serve --open", "every session of every agent, in the browser"],
      ["serve ~/.pi/agent/sessions --port 4711", "sessions of one agent, on a fixed port"],
    ],
    read: (args) => args,
    run: async (...given) => (await import("./commands/serve.ts")).serveCommand(...given),
  }),
  command({
    usage: "mcp [dirs..]",
    about: "Let agents search and read sessions over MCP",
    positionals: {
      dirs: {
        ...positional(
          "Directories of sessions (recursive); default: where agents keep sessions",
          "path",
        ),
        isRepeated: true,
      },
    },
    options: {
      project: {
        ...text("DIR", "Only sessions started in this directory, or below it"),
        takes: "path" as const,
      },
      redact: { ...flag("Replace secrets with markers; with =false, show them"), default: true },
      json,
    },
    examples: [
      ["mcp", "on standard input and output; an agent starts it, as configured"],
      ["mcp --project ~/app", "for one project, whatever the agent asks for"],
    ],
    read: (args) => args,
    run: async (...given) => (await import("./commands/mcp.ts")).mcpCommand(...given),
  }),
];

function archivedOr(place: string | undefined, archived: boolean): string | undefined {
  refuseBoth("PLACE", place, "--archived", archived || undefined);
  return place;
}
