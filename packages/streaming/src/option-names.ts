/**
 * Finds misspelt options. A call that ignored them would do something unintended: types do not
 * restrain callers in JavaScript, nor options that come from a file. Pure.
 */
import { closestMatch } from "leven";

/** The names of all options of a type: the compiler refuses a list that is not complete. */
export type OptionNames<T> = { readonly [K in keyof T]-?: true };

/** The likely intended name; undefined if none is similar. */
export function nearestName(word: string, names: readonly string[]): string | undefined {
  // A third of the letters: further away, a suggestion is a guess.
  return closestMatch(word, names, { maxDistance: Math.ceil(word.length / 3) });
}

/** The error in the names of the options, as a sentence; undefined if all are known. */
export function unknownOption(
  options: object,
  names: Readonly<Record<string, true>>,
): string | undefined {
  const unknown = Object.keys(options).find((name) => !Object.hasOwn(names, name));
  if (unknown === undefined) return undefined;
  const known = Object.keys(names);
  const nearest = nearestName(unknown, known);
  const hint = nearest === undefined ? `Known: ${known.join(", ")}` : `Did you mean "${nearest}"?`;
  return `The option ${JSON.stringify(unknown)} is unknown. ${hint}`;
}

/**
 * The options, if all of them are known.
 * @throws TypeError with the code `ERR_INVALID_ARGUMENT`.
 */
export function requireKnown<T extends object>(options: T, names: OptionNames<T>): T {
  const problem = unknownOption(options, names);
  if (problem === undefined) return options;
  throw Object.assign(new TypeError(problem), { code: "ERR_INVALID_ARGUMENT" });
}
