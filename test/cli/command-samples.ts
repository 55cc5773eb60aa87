/**
 * For each command, command lines that run it on a place of the test's choice. For a command that
 * is missing here, every test over all commands fails.
 */
import { delimiter, dirname, join } from "node:path";
import { installedPi } from "./installed-pi.ts";

// Samples of `pi` find one, whatever is installed.
process.env["PATH"] = `${installedPi("1.6.0").bin}${delimiter}${process.env["PATH"] ?? ""}`;

/** What a sample works on. */
export interface SamplePlace {
  /** The session, or what is given for one. */
  readonly file: string;
  /** Where samples write new files; empty before. */
  readonly output: string;
  /** The id of an entry of the session. */
  readonly entryId: string;
}

/** The words after the name of the command, for one run or several. */
export type Samples = (place: SamplePlace) => readonly (readonly string[])[];

/** The samples of a command. */
export function samplesOf(command: string, place: SamplePlace): readonly (readonly string[])[] {
  const found = samples[command];
  if (found === undefined) throw new Error(`no samples of ${command}`);
  return found(place);
}

/**
 * By command. None of them needs an answer or never ends, but for `watch`, `serve`, and
 * `tail --follow`.
 */
export const samples: Readonly<Record<string, Samples>> = {
  info: ({ file }) => [[file]],
  pi: () => [["--dry-run"]],
  resume: ({ file }) => [[file, "--dry-run"]],
  tree: ({ file }) => [[file], [file, "--all"]],
  context: ({ file, entryId }) => [[file], [file, "--full"], [file, "--at", entryId]],
  turns: ({ file }) => [[file], [file, "--turn", "1"], [file, "--replay", "1"]],
  entries: ({ file }) => [[file]],
  tail: ({ file }) => [[file], [file, "--all"]],
  watch: ({ file }) => [[file]],
  serve: ({ file }) => [[file]],
  mcp: ({ file }) => [[dirname(file)]],
  search: ({ file }) => [["e", file]],
  index: ({ file }) => [["update", file], [], ["check"], ["drop"]],
  doctor: () => [[]],
  verify: ({ file }) => [[file]],
  diff: ({ file, entryId }) => [
    [file, "@tail", entryId],
    [file, entryId, "--context"],
    [file, "--with", file],
  ],
  stats: ({ file }) => [[file], [file, "--by", "day"], [file, "--csv"]],
  repair: ({ file, output }) => [
    [file],
    [file, "--output", join(output, "repaired.jsonl"), "--cwd", "/"],
    [file, "--bridge", "--apply"],
  ],
  create: ({ output }) => [
    [join(output, "created.jsonl")],
    [join(output, "named.jsonl"), "--name", "a name", "--for", "omp"],
  ],
  append: ({ file, entryId }) => [
    [file, "--user", "text"],
    [file, "--user", "text", "--parent", entryId],
    [file, "--entry", '{"type":"custom","customType":"x:y"}'],
  ],
  name: ({ file }) => [[file], [file, "a name"], [file, "--clear"]],
  label: ({ file, entryId }) => [[file, entryId, "a label"]],
  list: ({ file }) => [[file], [file, "--all"]],
  fork: ({ file, output, entryId }) => [
    [file, "-o", join(output, "fork.jsonl")],
    [file, "-o", join(output, "part.jsonl"), "--at", entryId],
  ],
  convert: ({ file, output }) => [
    [file, "--to", "omp", "-o", join(output, "omp.jsonl")],
    [file, "--to", "pi", "-o", join(output, "pi.jsonl")],
  ],
  store: ({ file }) => [["push", file, "postgres://nobody@127.0.0.1:1/none"]],
  migrate: ({ file }) => [[file]],
  delete: ({ file }) => [[file, "--yes"]],
  archive: ({ file }) => [[file, "--force"]],
  restore: ({ file, output }) => [[file], [file, "-o", join(output, "restored.jsonl")]],
  prune: ({ file }) => [
    [file, "--keep", "0"],
    [file, "--keep", "0", "--force", "--yes"],
  ],
  mv: ({ file, output }) => [[file, output, "--dry-run"]],
  undo: ({ file }) => [[file]],
  ops: () => [[]],
  import: ({ file, output }) => [[file, "-o", join(output, "imported.jsonl")]],
  export: ({ file, output }) => [
    [file, "--to", "markdown"],
    [file, "--to", "pi"],
    [file, "--to", "markdown", "-o", join(output, "export.md")],
    [file, "-o", join(output, "export.html")],
    [file, "--to", "pi", "-o", join(output, "linear.jsonl")],
    [file, "--to", "connectonion", "-o", join(output, "agent.yaml")],
    [file, "--to", "pi", "--redact", "-o", join(output, "redacted.jsonl")],
    [file, "--to", "hf", "-o", join(output, "trace.jsonl")],
    [file, "--to", "sharegpt"],
    [dirname(file), "--to", "atif", "-o", join(output, "trajectories")],
  ],
};
