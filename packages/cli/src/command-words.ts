/** Divides a command line: options for every command, the name of the command, the rest. Pure. */
import { isOption, optionWords } from "./marked-words.ts";
import type { Words } from "./marked-words.ts";

export interface GlobalOptions {
  /** False with `--no-color`. */
  readonly hasColours: boolean;
  /** False with `--no-pager`. */
  readonly hasPager: boolean;
}

const noColour = ["--no-color", "--no-colour"];
const noPager = "--no-pager";

/** The words without options that every command takes, and these. */
export function globalOptions(words: Words): GlobalOptions & { readonly rest: Words } {
  const before = optionWords(words);
  const own = before.filter((word) => !noColour.includes(word) && word !== noPager);
  return {
    rest: [...own, ...words.slice(before.length)],
    hasColours: !before.some((word) => noColour.includes(word)),
    hasPager: !before.includes(noPager),
  };
}

export interface CommandWords {
  /** The first word that is not an option; undefined if there is none. */
  readonly name: string | undefined;
  /** All other words. */
  readonly rest: Words;
}

export function commandWords(words: Words): CommandWords {
  const before = optionWords(words);
  const first = before.findIndex((word) => !isOption(word));
  // If there are only options before `--`, the name is behind it.
  const at = first < 0 ? before.length + 1 : first;
  return { name: words[at], rest: words.filter((_word, index) => index !== at) };
}

export function asksFor(words: Words, ...names: readonly string[]): boolean {
  return optionWords(words).some((word) => names.includes(word));
}
