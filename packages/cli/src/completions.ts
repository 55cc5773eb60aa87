/** Completions of an unfinished command line, from the declarations of commands. Pure. */
import { commandWords, isOption, optionWords } from "./command-words.ts";
import type { Words } from "./command-words.ts";
import { commandNamed, commands } from "./commands.ts";
import { shellNames } from "./completion-script.ts";
import type { Declared, OptionDeclaration, Taken } from "./declaration.ts";

export interface Candidate {
  readonly value: string;
  readonly about: string;
}

export interface Completion {
  readonly candidates: readonly Candidate[];
  /** Also what the word can name, in which session; the shell completes files. */
  readonly takes: Taken | undefined;
  readonly session: string | undefined;
}

/** @param words The last is unfinished, and may be empty. */
export function completionOf(words: Words): Completion {
  const current = words.at(-1) ?? "";
  const { name, rest } = commandWords(words.slice(0, -1));
  const declared = commandNamed(name);
  if (declared === undefined)
    return started(name === undefined ? programWords : wordsOf(name), current);
  const isBehind = optionWords(rest).length < rest.length;
  const asking = isBehind ? undefined : optionNamed(declared, rest.at(-1));
  const places = placesOf(declared, rest);
  if (asking !== undefined && asking.type !== "boolean") return valuesOf(asking, places, current);
  if (current.startsWith("-") && !isBehind) return started(optionsOf(declared), current);
  const names = Object.keys(declared.positionals);
  const place = declared.positionals[names[Math.min(places.length, names.length - 1)] ?? ""];
  const isFull = places.length >= names.length && place?.isRepeated !== true;
  return place === undefined || isFull ? started([], current) : valuesOf(place, places, current);
}

const programWords: readonly Candidate[] = [
  ...commands.map(({ name, about }) => ({ value: name, about })),
  { value: "help", about: "Show the help of a command" },
  { value: "completion", about: "Print a script that completes commands in your shell" },
];

/** Completions after a word that is not a command to run. */
function wordsOf(name: string): readonly Candidate[] {
  if (name === "help") return programWords;
  if (name !== "completion") return [];
  return shellNames.map((value) => ({ value, about: "" }));
}

function optionsOf({ options }: Declared): readonly Candidate[] {
  const own = Object.entries(options).map(([name, { describe }]) => ({
    value: `--${name}`,
    about: describe,
  }));
  return [...own, { value: "--help", about: "Show this help" }];
}

function optionNamed({ options }: Declared, word = ""): OptionDeclaration | undefined {
  if (!isOption(word) || word.includes("=")) return undefined;
  const name = word.replace(/^--?/u, "");
  return options[name] ?? Object.values(options).find(({ letter }) => letter === name);
}

/** The words that are neither options nor values of options. */
function placesOf(declared: Declared, rest: Words): readonly string[] {
  const before = optionWords(rest);
  const plain = before.filter((word, at) => {
    const asking = optionNamed(declared, before[at - 1]);
    return !isOption(word) && (asking === undefined || asking.type === "boolean");
  });
  return [...plain, ...rest.slice(before.length + 1)];
}

function valuesOf(
  { choices = [], takes }: OptionDeclaration,
  [session]: readonly string[],
  current: string,
): Completion {
  const all = choices.map((value) => ({ value, about: "" }));
  return { ...started(all, current), takes, session };
}

function started(all: readonly Candidate[], current: string): Completion {
  const candidates = all.filter(({ value }) => value.startsWith(current));
  return { candidates, takes: undefined, session: undefined };
}
