/**
 * For each command, command lines that run it on a place of the test's choice. A command that is
 * missing here does not compile, so what is tested over all commands is tested of a new one, too.
 */
import { join } from "node:path";
import type { Command } from "../../packages/cli/src/command.ts";

/** What a sample works on. */
export interface SamplePlace {
  /** The session, or what is given for one. */
  readonly file: string;
  /** Where samples write new files; empty before. */
  readonly output: string;
  /** The id of an entry of the session. */
  readonly entryId: string;
}

/** The words behind the name of the command, for one run or several. */
export type Samples = (place: SamplePlace) => readonly (readonly string[])[];

/** By command. None of them needs an answer or never ends, but for `watch`, and `tail --follow`. */
export const samples: Readonly<Record<Command["name"], Samples>> = {
  info: ({ file }) => [[file]],
  tree: ({ file }) => [[file], [file, "--all"]],
  context: ({ file, entryId }) => [[file], [file, "--full"], [file, "--at", entryId]],
  turns: ({ file }) => [[file], [file, "--turn", "1"], [file, "--replay", "1"]],
  entries: ({ file }) => [[file]],
  tail: ({ file }) => [[file], [file, "--all"]],
  watch: ({ file }) => [[file]],
  search: ({ file }) => [["text", file]],
  verify: ({ file }) => [[file]],
  repair: ({ file, output }) => [
    [file],
    [file, "--output", join(output, "repaired.jsonl"), "--cwd", "/"],
    [file, "--bridge", "--apply"],
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
  migrate: ({ file }) => [[file]],
  delete: ({ file }) => [[file, "--yes"]],
  import: ({ file, output }) => [[file, "-o", join(output, "imported.jsonl")]],
  export: ({ file, output }) => [
    [file, "--to", "markdown"],
    [file, "--to", "pi"],
    [file, "--to", "markdown", "-o", join(output, "export.md")],
    [file, "--to", "pi", "-o", join(output, "linear.jsonl")],
    [file, "--to", "connectonion", "-o", join(output, "agent.yaml")],
  ],
};
