/** What is printed without loading the parser or the engine: version, help, completion. Pure. */
import { asksFor, commandWords, withPisWords } from "./command-words.ts";
import type { Words } from "./command-words.ts";
import { commandNamed } from "./commands.ts";
import { completeOption, completionScript } from "./completion-script.ts";
import { completionOf } from "./completions.ts";
import type { Candidate } from "./completions.ts";
import { commandHelp, programHelp } from "./help-text.ts";

export interface QuickFacts {
  readonly version: () => string;
  /** The path of the user's shell. */
  readonly shell?: string | undefined;
}

/** Undefined for everything else, wrong command lines included. */
export function quickText(given: Words, { version, shell }: QuickFacts): string | undefined {
  if (given[0] === completeOption) return plainCandidates(given.slice(1));
  const words = withPisWords(given);
  const { name, rest } = commandWords(words);
  if (asksFor(words, "--version", "-V")) return `${version()}\n`;
  const isHelp = name === "help";
  if (isHelp || asksFor(words, "--help", "-h")) return helpOf(isHelp ? rest[0] : name, isHelp);
  return name === "completion" ? completionScript(rest, shell) : undefined;
}

/** Undefined for help of an unknown command. */
function helpOf(name: string | undefined, isAsked: boolean): string | undefined {
  const declared = commandNamed(name);
  if (declared !== undefined) return commandHelp(declared);
  return isAsked && name !== undefined ? undefined : programHelp();
}

/** Undefined if sessions are to be read. */
function plainCandidates(words: Words): string | undefined {
  const { candidates, takes } = completionOf(words);
  return takes === "session" || takes === "entry" ? undefined : candidateLines(candidates);
}

/** A line each: the word, a tab, what it means. */
export function candidateLines(candidates: readonly Candidate[]): string {
  return candidates.map(({ value, about }) => `${value}\t${about}\n`).join("");
}
