/**
 * Values of arguments beyond what the option parser checks: whole numbers, words that name entries.
 * Pure.
 */
import type { AppendOptions, DraftSource } from "./commands/append.ts";
import { UsageError } from "./failure.ts";

interface SourceArguments {
  readonly user: string | undefined;
  readonly entry: string | undefined;
}

interface PlaceArguments {
  readonly parent: string;
  readonly expectedTail: string | undefined;
}

/** The one source that was named. */
export function draftSource(args: SourceArguments, drafts: string | undefined): DraftSource {
  const { user, entry } = args;
  const given = [user, entry, drafts].filter((source) => source !== undefined);
  if (given.length !== 1)
    throw new UsageError("Give one of --user, --entry and - (standard input).");
  if (user !== undefined) return { kind: "user", text: user };
  if (entry !== undefined) return { kind: "entry", json: entry };
  if (drafts === "-") return { kind: "input" };
  throw new UsageError(`${drafts} is no source of entries. Did you mean --user?`);
}

/** Where to append; `none` means no entry. */
export function placeOf(args: PlaceArguments): Pick<AppendOptions, "parent" | "expectedTail"> {
  const { parent, expectedTail } = args;
  const isWord = parent === "leaf" || parent === "tail";
  return {
    parent: isWord ? parent : { id: parent === "none" ? null : parent },
    expectedTail: expectedTail === "none" ? null : expectedTail,
  };
}

/** The value of an option that takes a whole number, if it was given. */
export function wholeNumber(
  name: string,
  value: number | undefined,
  least = 0,
): number | undefined {
  if (value === undefined || (Number.isSafeInteger(value) && value >= least)) return value;
  throw new UsageError(`--${name} takes a whole number from ${least}.`);
}

/**
 * The new file that `-o` names, if it names one. Standard output is refused: a session is written
 * under a name in one step. (yargs turns a lone dash into an empty text, mostly.)
 */
export function newFile<T extends string | undefined>(output: T): T {
  if (output === "" || output === "-") throw new UsageError(sayWhere);
  return output;
}

/** The message if no file is named. */
export const sayWhere = "Say where the session goes: -o FILE, which must not exist yet.";

/** The agents whose sessions `branchlog import` reads. */
export const importFormats = ["claude", "codex", "connectonion"] as const;

/** The forms that `branchlog export` writes. */
export const exportFormats = ["markdown", "pi", "connectonion"] as const;
