/**
 * Parses the words after the name of a command. Node divides them into options and arguments;
 * which of them there are, and what they take, is in the declaration of the command. Pure.
 */
import { parseArgs } from "node:util";
import { isOption, optionWords, programOptions } from "./command-words.ts";
import type { Words } from "./command-words.ts";
import type { Declared, OptionDeclaration } from "./declaration.ts";
import { UsageError } from "./failure.ts";
import { nearest } from "./suggestion.ts";

type Value = boolean | number | string | readonly string[] | undefined;
type Token = NonNullable<ReturnType<typeof parseArgs>["tokens"]>[number];
type OptionToken = Extract<Token, { kind: "option" }>;

/** With the name of its value. */
type NamedOption = OptionDeclaration & { readonly key: string };

/**
 * The values of all options and arguments, by their names in camel case.
 * @throws UsageError
 */
export function parsedValues(words: Words, declared: Declared): Readonly<Record<string, Value>> {
  const before = optionWords(words);
  const all = [...before, ...words.slice(before.length + 1)];
  const named = optionsByName(declared);
  const values: Record<string, Value> = {};
  for (const option of named.values()) values[option.key] = option.default;
  // Node treats a negative number as letters: words that are not options are blanked.
  const args = all.map((word, at) => (at < before.length && isOption(word) ? word : ""));
  const places: string[] = [];
  for (const token of tokensOf(args, named)) {
    const [word = "", next = ""] = all.slice(token.index);
    if (token.kind === "positional") places.push(word);
    else {
      // An end of options can only be within joined letters here: `-y--`.
      const option = token.kind === "option" ? named.get(token.name) : undefined;
      if (token.kind !== "option" || option === undefined) throw unknownOption(word, declared);
      values[option.key] = valueOf(option, token, next);
    }
  }
  takePlaces(places, values, declared);
  checkValues(values, declared);
  return values;
}

/** By every name that is accepted, without dashes; a letter is a name of its own. */
function optionsByName({ options }: Declared): ReadonlyMap<string, NamedOption> {
  const all = Object.entries(options).flatMap(([name, one]) => {
    const option = { ...one, key: camelCase(name) };
    return [...namesOf(name, one), option.key].map((each) => [each, option] as const);
  });
  return new Map(all);
}

function namesOf(name: string, { letter = name, formerly = [] }: OptionDeclaration): string[] {
  return [name, letter, ...formerly];
}

function camelCase(name: string): string {
  return name.replaceAll(/-./gu, ([, letter = ""]) => letter.toUpperCase());
}

function tokensOf(args: string[], named: ReadonlyMap<string, NamedOption>): readonly Token[] {
  const options = Array.from(named, ([name, { type }]) => {
    return [name, { type: type === "boolean" ? type : "string" }] as const;
  });
  const declared = Object.fromEntries(options);
  return parseArgs({ args, options: declared, strict: false, tokens: true }).tokens;
}

/** @param next The word after the option, which is its value if none is joined to it. */
function valueOf({ type }: NamedOption, token: OptionToken, next: string): Value {
  const { rawName, value, inlineValue } = token;
  if (type === "boolean") {
    if (value === undefined || value === "true" || value === "false") return value !== "false";
    throw new UsageError(`${rawName} takes true or false, not ${JSON.stringify(value)}.`);
  }
  if (value === undefined || (!inlineValue && /^-\D/u.test(value))) {
    throw new UsageError(`Not enough arguments following: ${rawName.replace(/^-+/u, "")}`);
  }
  const joined = rawName.startsWith("--") ? value : value.replace(/^=/u, "");
  const text = inlineValue ? joined : next;
  return type === "number" ? Number(text) : text;
}

/** Of the words that no option has taken. */
function takePlaces(places: string[], values: Record<string, Value>, declared: Declared): void {
  const { name, usage, positionals } = declared;
  for (const [key, { describe, isRequired, isRepeated }] of Object.entries(positionals)) {
    if (isRequired === true && places.length === 0) {
      const all = usage.slice(name.length).replaceAll(/[<>]/gu, "").toUpperCase();
      const missing = `${name} needs ${key.toUpperCase()} (${describe})`;
      throw new UsageError(`${missing}. Type: branchlog ${name}${all}`);
    }
    values[key] = isRepeated === true ? places.splice(0) : places.shift();
  }
  if (places.length === 0) return;
  const shown = places.map((word) => (word.trim() === "" ? JSON.stringify(word) : word));
  throw new UsageError(`Too many arguments: ${shown.join(", ")}`);
}

function checkValues(values: Record<string, Value>, { positionals, options }: Declared): void {
  const all = Object.entries({ ...positionals, ...options });
  const missing = all.filter(
    ([name, one]) => one.isRequired && values[camelCase(name)] === undefined,
  );
  if (missing.length > 0) {
    const noun = missing.length === 1 ? "argument" : "arguments";
    const names = missing.map(([name]) => name).join(", ");
    throw new UsageError(`Missing required ${noun}: ${names}`);
  }
  for (const [name, one] of all) {
    const value = values[camelCase(name)];
    if (value !== undefined) checkValue(name, value, one);
  }
}

function checkValue(name: string, value: Value, { choices, least = 0 }: OptionDeclaration): void {
  if (typeof value === "number" && !(Number.isSafeInteger(value) && value >= least)) {
    throw new UsageError(`--${name} takes an integer of at least ${least}.`);
  }
  if (choices === undefined || choices.some((one) => one === value)) return;
  const [given, ...all] = [value, ...choices].map((one) => JSON.stringify(one));
  throw new UsageError(
    `Invalid values:\n  Argument: ${name}, Given: ${given}, Choices: ${all.join(", ")}`,
  );
}

function unknownOption(word: string, { options }: Declared): UsageError {
  const own = Object.entries(options).flatMap(([name, one]) => namesOf(name, one));
  const typed = own.map((each) => (each.length === 1 ? `-${each}` : `--${each}`));
  const hint = nearest(word, [...typed, ...programOptions]);
  return new UsageError(
    `Unknown option: ${word}.${hint} Put -- before an argument that starts with a dash.`,
  );
}
