/** Divides a command line: options for every command, the name of the command, the rest. Pure. */
export type Words = readonly string[];

export interface GlobalOptions {
  /** False with `--no-color`. */
  readonly hasColours: boolean;
  /** False with `--no-pager`. */
  readonly hasPager: boolean;
}

/** Options without a command, and with every one. */
export const programOptions: Words = [
  "-h",
  "--help",
  "-V",
  "--version",
  "--no-color",
  "--no-pager",
];

const noColour = ["--no-color", "--no-colour"];
const noPager = "--no-pager";

/** The arguments without the options of every command, and these. */
export function globalOptions(words: Words): GlobalOptions & { readonly rest: Words } {
  const before = optionWords(words);
  const own = before.filter((word) => !noColour.includes(word) && word !== noPager);
  return {
    rest: [...own, ...words.slice(before.length)],
    hasColours: !before.some((word) => noColour.includes(word)),
    hasPager: !before.includes(noPager),
  };
}

const piOptions: Words = ["--force", "--dry-run", "--json", "-h", "--help"];

/** Arguments after `pi`, except our options directly after it, are for pi: as if after `--`. */
export function withPisWords(words: Words): Words {
  if (words[0] !== "pi" || words.includes("--")) return words;
  const own = words.findIndex((word, at) => at > 0 && !piOptions.includes(word));
  return own < 0 ? words : [...words.slice(0, own), "--", ...words.slice(own)];
}

export interface CommandWords {
  /** The first word that is not an option; undefined if all are options. */
  readonly name: string | undefined;
  /** All other words. */
  readonly rest: Words;
}

export function commandWords(words: Words): CommandWords {
  const before = optionWords(words);
  const first = before.findIndex((word) => !isOption(word));
  // If there are only options before `--`, the name is after it.
  const at = first < 0 ? before.length + 1 : first;
  return { name: words[at], rest: words.filter((_word, index) => index !== at) };
}

export function asksFor(words: Words, ...names: readonly string[]): boolean {
  return optionWords(words).some((word) => names.includes(word));
}

/** Those before `--`: words after it are not options. */
export function optionWords(words: Words): Words {
  const end = words.indexOf("--");
  return end < 0 ? words : words.slice(0, end);
}

/** Negative numbers and a lone dash are not options. */
export function isOption(word: string): boolean {
  return /^-(?!\d+(?:\.\d+)?$)./su.test(word);
}
