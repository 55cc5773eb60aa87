/** The commands that remove sessions and bring them back, declared. */
import { newFile, oneOfEach } from "./command-checks.ts";
import { command, flag, number, positional, required, text } from "./declaration.ts";
import type { Declared, Flag, RequiredPositional } from "./declaration.ts";
import { UsageError } from "./failure.ts";
import { agentNames } from "./session-filter.ts";
import { agent, json, limit, output } from "./shared-options.ts";

const force: Flag = flag("Also sessions that changed within the last minute, or that are locked");

const directory: RequiredPositional = required("The directory that was renamed or moved", "path");

export const archiveCommands: readonly Declared[] = [
  command({
    usage: "delete <sessions..>",
    about: "Delete sessions, after asking",
    isWriting: true,
    positionals: {
      sessions: {
        ...required("Session files, or names or ids of sessions", "session"),
        isRepeated: true,
      },
    },
    options: {
      yes: { ...flag("Do not ask"), letter: "y" },
      force: flag("Delete even while another process holds the lock"),
      permanent: flag("Delete for good, instead of keeping them for 30 days"),
      json,
    },
    examples: [
      ["delete fork.jsonl 01973400", "two sessions; branchlog undo brings them back for 30 days"],
    ],
    read: (args) => args,
    run: async (...given) => (await import("./commands/delete.ts")).deleteCommand(...given),
  }),
  command({
    usage: "archive <sessions..>",
    about: "Archive sessions: compressed, read back, then removed",
    isWriting: true,
    positionals: {
      sessions: {
        ...required("Session files, names or ids, and directories with all below", "session"),
        isRepeated: true,
      },
    },
    options: { force, json },
    examples: [
      ["archive old.jsonl", "one session; list --archived shows it"],
      ["archive ~/.claude/projects/-home-me-old", "all of a project"],
    ],
    read: (args) => args,
    run: async (...given) => (await import("./commands/archive.ts")).archiveCommand(...given),
  }),
  command({
    usage: "restore <session>",
    about: "Bring an archived session back",
    isWriting: true,
    positionals: { session: required("The path, name or id of an archived session") },
    options: { output: output("Write a copy there; the session stays archived"), json },
    examples: [
      ["restore 'Fix the login test'", "to where it was, with the same bytes"],
      ["restore 01973400 -o old.jsonl", "as a copy"],
    ],
    read: (args) => ({ ...args, output: newFile(args.output) }),
    run: async (...given) => (await import("./commands/archive.ts")).restoreCommand(...given),
  }),
  command({
    usage: "prune [dir]",
    about: "Archive the oldest sessions, or show which",
    isWriting: true,
    positionals: {
      dir: positional("A directory, with all below; default: where agents keep theirs", "path"),
    },
    options: {
      "older-than": text("TIME", "Those that did not change since: 30d, 2w, or a date"),
      keep: number("All but the N that changed last"),
      "keep-size": text("SIZE", "All but the last ones that take so much together: 500MB, 5GB"),
      agent,
      trash: flag("Keep them for 30 days only"),
      force,
      yes: { ...flag("Do it; without it, the sessions are only listed"), letter: "y" },
      json,
    },
    examples: [
      ["prune --older-than 90d", "lists them; nothing is changed"],
      ["prune --keep-size 5GB --agent codex --yes", "archives what is beyond 5 GB"],
    ],
    read: (args) => {
      const { dir, olderThan, keep, keepSize } = args;
      if (olderThan === undefined && keep === undefined && keepSize === undefined) {
        throw new UsageError("Say what is pruned: --older-than 90d, --keep N or --keep-size 5GB.");
      }
      const keepBytes = keepSize === undefined ? undefined : bytesOf(keepSize);
      const agents = oneOfEach("agent", args.agent, agentNames);
      return { ...args, directory: dir, keepBytes, agents };
    },
    run: async (...given) => (await import("./commands/archive.ts")).pruneCommand(...given),
  }),
  command({
    usage: "mv <dir> <newdir>",
    about: "Let sessions follow a project that was renamed",
    isWriting: true,
    positionals: { dir: directory, newdir: required("Where it is now", "path") },
    options: { "dry-run": flag("Only list what would be moved"), force, json },
    examples: [["mv ~/shop ~/shop-api", "their agents find the sessions of ~/shop in ~/shop-api"]],
    read: (args) => ({ ...args, from: args.dir, to: args.newdir }),
    run: async (...given) => (await import("./commands/mv.ts")).mvCommand(...given),
  }),
  command({
    usage: "undo [operation]",
    about: "Take back what removed or replaced sessions",
    isWriting: true,
    positionals: {
      operation: positional("The id of an operation, or its beginning; default: the last one"),
    },
    options: { json },
    examples: [
      ["undo", "takes back the last delete, archive, prune, mv, repair or migrate"],
      ["undo 01a21f16", "another one, as branchlog ops lists them"],
    ],
    read: (args) => args,
    run: async (...given) => (await import("./commands/undo.ts")).undoCommand(...given),
  }),
  command({
    usage: "ops",
    about: "List what removed or replaced sessions",
    isPaged: true,
    positionals: {},
    options: { limit, json },
    examples: [["ops -n 5", "the last five operations, for undo"]],
    read: (args) => args,
    run: async (...given) => (await import("./commands/undo.ts")).opsCommand(...given),
  }),
];

const units = { "": 1, k: 1e3, m: 1e6, g: 1e9, t: 1e12 } as const;

/** Of `500MB`, `5G` or `1.5 TB`, with decimal prefixes. */
function bytesOf(given: string): number {
  const [, count = "", unit = ""] = /^(\d+(?:\.\d+)?)\s*([kmgt]?)b?$/i.exec(given) ?? [];
  const prefix = unit.toLowerCase();
  const isUnit = prefix === "" || prefix === "k" || prefix === "m" || prefix === "g";
  if (count !== "" && (isUnit || prefix === "t")) {
    return Number(count) * units[prefix === "t" ? "t" : isUnit ? prefix : ""];
  }
  throw new UsageError(`--keep-size takes a size as 500MB or 5GB, not ${given}.`);
}
