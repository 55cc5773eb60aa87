/**
 * What the words of a command line stand for, where a parser of options cannot know: numbers that
 * must be whole, words that stand for entries. Pure.
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

/** Where to append; `none` stands for no entry. */
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
 * The new file that `-o` names, if it names one. Standard output is none: a session is written
 * under a name in one step. (yargs makes an empty text of a lone dash, mostly.)
 */
export function newFile<T extends string | undefined>(output: T): T {
  if (output === "" || output === "-") throw new UsageError(sayWhere);
  return output;
}

/** What is said where no file is named. */
export const sayWhere = "Say where the session goes: -o FILE, which must not exist yet.";
