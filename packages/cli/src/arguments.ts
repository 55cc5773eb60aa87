/**
 * Parses a command line into a command, a help text or shell completions. Pure: it neither prints
 * nor exits.
 */
import { addCommands, commandNames } from "./commands.ts";
import type { Command } from "./commands.ts";
import { UsageError } from "./failure.ts";
import { markedWords, strayOption, unmarkArguments, unmarked } from "./marked-words.ts";
import type { Words } from "./marked-words.ts";
import { emptyParser } from "./parser.ts";

export type ParsedArguments =
  | { readonly kind: "command"; readonly command: Command }
  | { readonly kind: "text"; readonly text: string };

/** @throws UsageError for a wrong command line. */
export function parseArguments(words: readonly string[], version: string): ParsedArguments {
  let command: Command | undefined;
  let outcome: { readonly error: Error | undefined; readonly text: string } | undefined;
  const parser = emptyParser(version);
  parser.middleware((args) => unmarkArguments(args), true);
  addCommands(parser, words, (chosen) => {
    command = chosen;
  });
  parser.completion("completion", "Print a script that completes commands in your shell");
  // With a callback, yargs passes on what it would print. The handlers run synchronously.
  void parser.parse(
    words[0] === asksForCompletions ? [...words] : markedWords(words),
    (error: Error | undefined | null, _parsed: unknown, text: string) => {
      outcome = { error: error ?? undefined, text };
    },
  );
  const { error, text } = outcome ?? { error: undefined, text: "" };
  if (error instanceof UsageError) throw error;
  if (error !== undefined) throw misuse(error.message, text, { words, version });
  if (command !== undefined) return { kind: "command", command };
  return { kind: "text", text: words[0] === asksForCompletions ? offered(text, words) : text };
}

const asksForCompletions = "--get-yargs-completions";

/** Options are offered only after a dash: without any completions, the shell offers files. */
function offered(completions: string, words: Words): string {
  if (words.at(-1)?.startsWith("-") === true) return completions;
  return completions
    .split("\n")
    .filter((line) => !line.startsWith("-"))
    .join("\n");
}

interface Given {
  readonly words: Words;
  readonly version: string;
}

/** In terms of the given words; yargs' message is about the parsed ones. */
function misuse(problem: string, text: string, given: Given): UsageError {
  // An unknown option consumes the next word, which is then missing, or splits into letters.
  const isOfWords = /^(?:Unknown|Not enough non-option)/u.test(problem);
  const stray = isOfWords ? strayOption(given.words, helpFor(given)) : undefined;
  if (stray === undefined) return new UsageError(unmarked(usageProblem(problem, text, given)));
  const hint = "What starts with a dash and is no option goes behind --.";
  return new UsageError(`Unknown option: ${stray}. ${hint}`);
}

function helpFor({ words, version }: Given): string {
  const command = isCommand(words[0]) ? words.slice(0, 1) : [];
  const help = parseArguments([...command, "--help"], version);
  return help.kind === "text" ? help.text : "";
}

/** With the suggestion of yargs if it has one. */
function usageProblem(problem: string, text: string, { words }: Given): string {
  const [, extra] = /^Unknown (?:command|argument)s?: (.*)$/su.exec(problem) ?? [];
  // yargs reports each word that no positional takes as an unknown command.
  if (extra !== undefined && isCommand(words[0])) return `Too many arguments: ${extra}`;
  const [meant = ""] = text.split("\n");
  return meant.startsWith("Did you mean") ? `${problem}. ${meant}` : problem;
}

function isCommand(word: string | undefined): boolean {
  return word !== undefined && ["completion", ...commandNames].includes(word);
}
