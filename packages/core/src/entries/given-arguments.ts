/**
 * What callers pass in where types do not hold them back: texts and bags of options. Pure. What is
 * none is a mistake in the calling code, said where it is made, not where it is first looked into.
 */
import { BranchlogError } from "../errors.ts";

/**
 * The text, if it is one.
 * @param what What it is to the caller, as the beginning of a sentence.
 * @throws BranchlogError `ERR_INVALID_ARGUMENT`.
 */
export function requireText(text: string, what: string): string {
  const given: unknown = text;
  if (typeof given === "string") return given;
  throw invalid(`${what} is a string; this is ${kindOf(given)}.`);
}

/**
 * The options, if they are an object.
 * @throws BranchlogError `ERR_INVALID_ARGUMENT`.
 */
export function requireOptions<Options extends object>(options: Options): Options {
  const given: unknown = options;
  if (typeof given === "object" && given !== null && !Array.isArray(given)) return options;
  throw invalid(`Options are an object, or left out; this is ${kindOf(given)}.`);
}

/**
 * The list, if it is one.
 * @throws BranchlogError `ERR_INVALID_ARGUMENT`.
 */
export function requireList<Item>(list: readonly Item[], what: string): readonly Item[] {
  const given: unknown = list;
  if (Array.isArray(given)) return list;
  throw invalid(`${what} is an array; this is ${kindOf(given)}.`);
}

function invalid(message: string): BranchlogError {
  return new BranchlogError("ERR_INVALID_ARGUMENT", message);
}

function kindOf(given: unknown): string {
  if (given === null) return "null";
  return Array.isArray(given) ? "an array" : typeof given;
}
