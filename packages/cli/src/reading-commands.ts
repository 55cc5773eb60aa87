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
      dir: positional(
        "A directory, or a session; default: where pi, co-mono, omp, ConnectOnion, Claude " +
          "Code and Codex keep theirs",
        "session",
      ),
    },
    options: {
      all: flag("List transcripts of subagents by themselves"),
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
      ["list --since today", "what was worked on today"],
      ["list --agent claude,codex --sort tokens -n 10", "the ten that took the most"],
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
      ["info work.jsonl", "of a file"],
      ["info 'Fix the login test'", "of the session with this name"],
      ["info 01973400 --json", "as JSON, of the session whose id begins so"],
    ],
    read: (args) => args,
    run: async (...given) => (await import("./commands/info.ts")).infoCommand(...given),
  }),
  command({
    usage: "pi [words..]",
    about: "Start pi with its sessions on Branchlog",
    positionals: { words: { ...positional("What pi takes"), isRepeated: true } },
    options: {
      force: flag("Also a version that was not tried; before what pi takes, as all options"),
      "dry-run": flag("Print the command instead of running it"),
      json,
    },
    examples: [
      ["pi", "a new session, in pi"],
      ["pi --continue", "what pi takes is given to it"],
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
      ["resume @latest", "the session that changed last"],
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
      ["tree work.jsonl --depth 0", "the main branch alone"],
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
    about: "Show what the model would get",
    isPaged: true,
    positionals: { file },
    options: {
      at: entry("At this entry; default: the leaf"),
      limit: { ...limit, least: 0, describe: "Only the last N messages", formerly: ["last"] },
      full: flag("Shorten nothing"),
      ...common,
    },
    examples: [
      ["context work.jsonl -n 3", "the last three messages"],
      ["context work.jsonl --at 5b2e9d06 --json", "all that was known at an entry"],
    ],
    read: (args) => ({ ...args, last: args.limit }),
    run: async (...given) => (await import("./commands/context.ts")).contextCommand(...given),
  }),
  command({
    usage: "turns <file>",
    about: "List turns: asked, answered, spent",
    isPaged: true,
    positionals: { file },
    options: {
      turn: number("One turn, with its messages", 1),
      replay: number("The messages given to the model when this turn began", 1),
      estimate,
      ...common,
    },
    examples: [
      ["turns work.jsonl", "what each turn asked, gave and cost"],
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
      reverse: flag("Last first"),
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
      ["tail work.jsonl -f", "what an agent does, as it does it"],
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
      dir: positional("The directory of the sessions; default: all that agents keep, live", "path"),
    },
    options: {
      recursive: { ...flag("Those in its sub-directories, too"), letter: "r" },
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
      query: required("Words, of which all occur; those in quotes as one; ignoring case"),
      place: positional(
        "A directory, with all below, or a session; default: where agents keep theirs",
        "session",
      ),
    },
    options: {
      in: text("KINDS", `Only there, separated by commas: ${searchedKinds.join(", ")}`),
      role: text("ROLE", "Only messages of this role: user, assistant, toolResult, ..."),
      tool: text("NAME", "Only calls of this tool, and their results"),
      exact: { ...flag("The text as it is, in place of its words"), letter: "F" },
      regex: { ...flag("The text is a regular expression of RE2"), letter: "E" },
      sort: choice(["rank", "time"], "The best hit of each session, or all hits, latest first"),
      project: text("DIR", "Only sessions that worked in this directory, or below"),
      path: text("FILE", "Only sessions with a call that names this file or directory"),
      branch: text(
        "ENTRY",
        "Only what is on the branch to this entry; leaf: to that of each session",
      ),
      archived: flag("Search the archived sessions instead"),
      agent,
      since,
      until,
      context: { ...number("Show whole lines, with N before and after"), letter: "C" },
      limit,
      "no-index": flag("Read all files, in place of the index"),
      json,
    },
    examples: [
      ["search 'rate limit' --since 7d", "what was said this week"],
      ["search timeout @latest", "every hit in the session that changed last"],
      ["search -E 'retry|timeout' --tool edit", "by a regular expression, in edits"],
      [
        "search timeout --path src/net.ts --branch leaf",
        "in sessions about a file, if it is in force",
      ],
      ["search -- --frozen-lockfile", "a text that begins with a dash"],
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
        ...positional("What is updated; default: where agents keep sessions", "session"),
        isRepeated: true,
      },
    },
    options: { json },
    examples: [
      ["index", "its size and its age"],
      ["index update", "read what it lacks; an interrupt keeps what is done"],
      ["index drop", "remove it; nothing of a session is in it alone"],
    ],
    read: (args) => args,
    run: async (...given) => (await import("./commands/index-command.ts")).indexCommand(...given),
  }),
  command({
    usage: "doctor",
    about: "Show versions, places, sizes, locks and problems, for a report",
    positionals: {},
    options: { json },
    examples: [["doctor --json", "for an issue; nothing that was said is in it"]],
    read: (args) => args,
    run: async (...given) => (await import("./commands/doctor.ts")).doctorCommand(...given),
  }),
  command({
    usage: "verify <files..>",
    about: "Check every byte of sessions",
    isPaged: true,
    positionals: {
      files: {
        ...required("Session files, names or ids, and directories with all below", "session"),
        isRepeated: true,
      },
    },
    options: common,
    examples: [
      ["verify work.jsonl", "all damage, with its place"],
      ["verify ~/.pi/agent/sessions", "every session below, a line each"],
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
      from: positional("An entry of it; with --with, by default its leaf", "entry"),
      to: positional("The entry it is compared with; default: the leaf", "entry"),
    },
    options: {
      with: {
        ...text("OTHER", "With an entry of this session, by default its leaf"),
        takes: "session" as const,
      },
      context: flag("Compare what the model would get, message by message"),
      full: flag("Shorten no message of a context"),
      ...common,
    },
    examples: [
      ["diff work.jsonl 5b2e9d06", "what two branches of a session do not share"],
      ["diff parent.jsonl --with fork.jsonl", "a fork and its parent"],
      ["diff work.jsonl @leaf~4 --context", "what a compaction made of the context"],
    ],
    read: (args) => {
      if (args.from === undefined && args.with === undefined) {
        throw new UsageError("Say what is compared: an entry, or another session as --with OTHER.");
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
        "A directory, with all below, or a session; default: where agents keep theirs",
        "session",
      ),
    },
    options: {
      by: choice(["project", "day", "model", "agent"], "A line for each"),
      agent,
      since: { ...since, describe: since.describe.replace("changed", "was spent") },
      until: { ...until, describe: until.describe.replace("changed", "was spent") },
      limit,
      "fold-worktrees": {
        ...flag("Count worktrees as their repository; with =false, by themselves"),
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
      if (args.csv && args.estimate) throw new UsageError("--csv has stored costs only.");
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
          "Directories, sessions or the address of a store; default: where agents keep theirs",
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
      ["serve ~/.pi/agent/sessions --port 4711", "those of one agent, at a port of your choice"],
    ],
    read: (args) => args,
    run: async (...given) => (await import("./commands/serve.ts")).serveCommand(...given),
  }),
  command({
    usage: "mcp [dirs..]",
    about: "Let agents search and read sessions, by MCP",
    positionals: {
      dirs: {
        ...positional(
          "Directories of sessions, with all below; default: where agents keep theirs",
          "path",
        ),
        isRepeated: true,
      },
    },
    options: {
      project: {
        ...text("DIR", "Only sessions that began in this directory, or below it"),
        takes: "path" as const,
      },
      redact: { ...flag("Replace secrets by markers; with =false, show them"), default: true },
      json,
    },
    examples: [
      ["mcp", "on standard input and output; an agent starts it, by its configuration"],
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
