/**
 * Parses a command line into a command, or into a text that is all that is asked for. Pure: it
 * neither prints nor exits.
 */
import { asksFor, commandWords } from "./command-words.ts";
import type { CommandWords } from "./command-words.ts";
import { commandNamed, commandNames } from "./commands.ts";
import { shellNames } from "./completion-script.ts";
import type { Command, Declared } from "./declaration.ts";
import { aliasesOf } from "./declaration.ts";
import { UsageError } from "./failure.ts";
import { markedWords, strayOption, unmarkArguments, unmarked } from "./marked-words.ts";
import type { Words } from "./marked-words.ts";
import { emptyParser } from "./parser.ts";
import { quickText } from "./quick-text.ts";
import { hasPathForm } from "./path-form.ts";
import { nearest } from "./suggestion.ts";

export type ParsedArguments =
  | { readonly kind: "command"; readonly command: Command }
  | { readonly kind: "text"; readonly text: string };

/** @throws UsageError for a wrong command line. */
export function parseArguments(words: Words, version: string): ParsedArguments {
  const text = quickText(words, { version: () => version });
  if (text !== undefined) return { kind: "text", text };
  return { kind: "command", command: parseCommand(words) };
}

/** @throws UsageError for a wrong command line. */
export function parseCommand(words: Words): Command {
  const { name, rest } = commandWords(words);
  const declared = commandNamed(name);
  if (declared === undefined) throw unknownCommand({ name, rest }, words);
  let command: Command | undefined;
  let problem: Error | undefined;
  const parser = emptyParser();
  parser.middleware((args) => unmarkArguments(args), true);
  declared.declare(parser, rest, (chosen) => {
    command = chosen;
  });
  // With a callback, yargs passes on what it would print. The handlers run synchronously.
  void parser.parse(markedWords(rest), (error: Error | undefined | null) => {
    problem = error ?? undefined;
  });
  if (problem instanceof UsageError) throw problem;
  if (command === undefined || problem !== undefined) {
    throw misuse(problem?.message ?? "", declared, rest);
  }
  return command;
}

function unknownCommand({ name, rest }: CommandWords, words: Words): UsageError {
  if (name === "completion") {
    const [shell = "", extra] = rest;
    if (extra !== undefined) return new UsageError(`Too many arguments: ${extra}`);
    return new UsageError(`completion takes ${shellNames.join(", ")}, not ${shell}.`);
  }
  if (name !== undefined && hasPathForm(name)) {
    return new UsageError(`There is no file ${name}, and no command with this name.`);
  }
  const meant = name === "help" ? rest[0] : name;
  if (meant !== undefined) {
    const hint = nearest(meant, [...commandNames, "help", "completion"]);
    return new UsageError(`Unknown command: ${meant}.${hint}`);
  }
  if (asksFor(words, "-v")) return new UsageError("Unknown option: -v. Did you mean -V?");
  const stray = strayOption(words, programOptions);
  if (stray === undefined) return new UsageError("Name a command; branchlog --help lists them.");
  return new UsageError(`Unknown option: ${stray}.${nearest(stray, programOptions)}`);
}

const programOptions = ["-h", "--help", "-V", "--version", "--no-color", "--no-pager"];

/** In terms of the given words; yargs' message is about the parsed ones. */
function misuse(problem: string, declared: Declared, words: Words): UsageError {
  // An unknown option consumes the next word, which is then missing, or splits into letters.
  const isOfWords = /^(?:Unknown|Not enough non-option)/u.test(problem);
  const known = optionNames(declared);
  const stray = isOfWords ? strayOption(words, known) : undefined;
  if (stray !== undefined) {
    const hint = nearest(stray, known);
    return new UsageError(
      `Unknown option: ${stray}.${hint} What starts with a dash and is no option goes behind --.`,
    );
  }
  if (problem.startsWith("Not enough non-option"))
    return new UsageError(missingPlace(declared, problem));
  const [, extra] = /^Unknown (?:command|argument)s?: (.*)$/su.exec(problem) ?? [];
  return new UsageError(unmarked(extra === undefined ? problem : `Too many arguments: ${extra}`));
}

/** As they are typed; `--help` and others of every command included. */
function optionNames({ options }: Declared): readonly string[] {
  const own = Object.entries(options).flatMap(([name, one]) => {
    const names = [name, ...aliasesOf(one), ...(one.formerly ?? [])];
    return names.map((each) => (each.length === 1 ? `-${each}` : `--${each}`));
  });
  return [...own, ...programOptions];
}

/** Names the first place for which no word is left. */
function missingPlace({ name, usage, positionals }: Declared, problem: string): string {
  const given = Number(/got (\d+)/u.exec(problem)?.[1] ?? 0);
  const [key = "", { describe = "" } = {}] = Object.entries(positionals)[given] ?? [];
  const places = usage.slice(name.length).replaceAll(/[<>]/gu, "").toUpperCase();
  return `${name} needs ${key.toUpperCase()} (${describe}). Type: branchlog ${name}${places}`;
}
