/** The commands that remove and restore sessions, declared. */
import { newFile, oneOfEach } from "./command-checks.ts";
import { command, flag, number, positional, required, text } from "./declaration.ts";
import type { Declared, Flag, RequiredPositional } from "./declaration.ts";
import { UsageError } from "./failure.ts";
import { agentNames } from "./session-filter.ts";
import { agent, json, limit, output } from "./shared-options.ts";

const force: Flag = flag("Include sessions that changed within the last minute or are locked");

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
      permanent: flag("Delete permanently instead of keeping them for 30 days"),
      json,
    },
    examples: [
      ["delete fork.jsonl 01973400", "two sessions; branchlog undo restores them for 30 days"],
    ],
    read: (args) => args,
    run: async (...given) => (await import("./commands/delete.ts")).deleteCommand(...given),
  }),
  command({
    usage: "archive <sessions..>",
    about: "Archive sessions: compress, verify, then remove",
    isWriting: true,
    positionals: {
      sessions: {
        ...required("Session files, names or ids, or directories (recursive)", "session"),
        isRepeated: true,
      },
    },
    options: { force, json },
    examples: [
      ["archive old.jsonl", "one session; list --archived shows it"],
      ["archive ~/.claude/projects/-home-me-old", "all sessions of a project"],
    ],
    read: (args) => args,
    run: async (...given) => (await import("./commands/archive.ts")).archiveCommand(...given),
  }),
  command({
    usage: "restore <session>",
    about: "Restore an archived session",
    isWriting: true,
    positionals: { session: required("The path, name or id of an archived session") },
    options: { output: output("Write a copy there; the session stays archived"), json },
    examples: [
      ["restore 'Fix the login test'", "to its original path, byte for byte"],
      ["restore 01973400 -o old.jsonl", "as a copy"],
    ],
    read: (args) => ({ ...args, output: newFile(args.output) }),
    run: async (...given) => (await import("./commands/archive.ts")).restoreCommand(...given),
  }),
  command({
    usage: "prune [dir]",
    about: "Archive the oldest sessions, or only list them",
    isWriting: true,
    positionals: {
      dir: positional("A directory (recursive); default: where agents keep sessions", "path"),
    },
    options: {
      "older-than": text("TIME", "Only those unchanged since: 30d, 2w, or a date"),
      keep: number("All but the N most recently changed"),
      "keep-size": text("SIZE", "All but the latest, up to this total size: 500MB, 5GB"),
      agent,
      trash: flag("Keep them for 30 days only"),
      force,
      yes: { ...flag("Archive them; without it, they are only listed"), letter: "y" },
      json,
    },
    examples: [
      ["prune --older-than 90d", "lists them; nothing is changed"],
      ["prune --keep-size 5GB --agent codex --yes", "archives what exceeds 5 GB"],
    ],
    read: (args) => {
      const { dir, olderThan, keep, keepSize } = args;
      if (olderThan === undefined && keep === undefined && keepSize === undefined) {
        throw new UsageError(
          "Specify what to prune: --older-than 90d, --keep N or --keep-size 5GB.",
        );
      }
      const keepBytes = keepSize === undefined ? undefined : bytesOf(keepSize);
      const agents = oneOfEach("agent", args.agent, agentNames);
      return { ...args, directory: dir, keepBytes, agents };
    },
    run: async (...given) => (await import("./commands/archive.ts")).pruneCommand(...given),
  }),
  command({
    usage: "mv <dir> <newdir>",
    about: "Move sessions to the new path of a renamed project",
    isWriting: true,
    positionals: { dir: directory, newdir: required("Its new path", "path") },
    options: { "dry-run": flag("Only list what would be moved"), force, json },
    examples: [["mv ~/shop ~/shop-api", "their agents find the sessions of ~/shop in ~/shop-api"]],
    read: (args) => ({ ...args, from: args.dir, to: args.newdir }),
    run: async (...given) => (await import("./commands/mv.ts")).mvCommand(...given),
  }),
  command({
    usage: "undo [operation]",
    about: "Undo an operation that removed or replaced sessions",
    isWriting: true,
    positionals: {
      operation: positional("The id of an operation, or a prefix of it; default: the last one"),
    },
    options: { json },
    examples: [
      ["undo", "undoes the last delete, archive, prune, mv, repair or migrate"],
      ["undo 01a21f16", "an earlier one; branchlog ops lists them"],
    ],
    read: (args) => args,
    run: async (...given) => (await import("./commands/undo.ts")).undoCommand(...given),
  }),
  command({
    usage: "ops",
    about: "List operations that removed or replaced sessions",
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
  throw new UsageError(`--keep-size takes a size such as 500MB or 5GB, not ${given}.`);
}
