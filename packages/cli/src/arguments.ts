/**
 * Parses a command line into a command, or into a text to print. Pure: it
 * neither prints nor exits.
 */
import {
  asksFor,
  commandWords,
  isOption,
  optionWords,
  programOptions,
  withPisWords,
} from "./command-words.ts";
import type { CommandWords, Words } from "./command-words.ts";
import { commandNamed, commandNames } from "./commands.ts";
import { shellNames } from "./completion-script.ts";
import type { Command } from "./declaration.ts";
import { UsageError } from "./failure.ts";
import { parsedValues } from "./parser.ts";
import { hasPathForm } from "./path-form.ts";
import { nearest } from "./suggestion.ts";

/** @throws UsageError for a wrong command line. */
export function parseCommand(words: Words): Command {
  const { name, rest } = commandWords(withPisWords(words));
  const declared = commandNamed(name);
  if (declared === undefined) throw unknownCommand({ name, rest }, words);
  return declared.commandOf(parsedValues(rest, declared));
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
  const stray = optionWords(words).find((word) => isOption(word) && !programOptions.includes(word));
  if (stray === undefined) return new UsageError("Specify a command; branchlog --help lists them.");
  return new UsageError(`Unknown option: ${stray}.${nearest(stray, programOptions)}`);
}
