/**
 * Checks of what callers pass in. Types do not hold back callers in JavaScript, nor values that
 * come from an environment or a file; and a misspelt promise must not be a weaker one. Each returns
 * the value, or throws `ERR_INVALID_ARGUMENT` with the name of what it is. Pure.
 */
import { type OptionNames, unknownOption } from "@branchlog/streaming";
import { BranchlogError } from "./errors.ts";

export function requireOneOf<T extends string>(name: string, value: T, all: readonly T[]): T {
  if (all.includes(value)) return value;
  const words = all.map((word) => `"${word}"`);
  const last = words.pop() ?? "";
  const choice = words.length === 0 ? last : `${words.join(", ")} or ${last}`;
  throw invalidArgument(`${name} must be ${choice}, not ${shown(value)}`);
}

/** `Infinity` is a number. */
export function requireAtLeast(name: string, value: number, least: number): number {
  if (typeof value === "number" && value >= least) return value;
  throw invalidArgument(`${name} must be a number of at least ${least}, not ${shown(value)}`);
}

export function requireBoolean(name: string, value: boolean): boolean {
  if (typeof value === "boolean") return value;
  throw invalidArgument(`${name} must be true or false, not ${shown(value)}`);
}

export function requireText(name: string, value: string): string {
  if (typeof value === "string") return value;
  throw invalidArgument(`${name} must be a string, not ${shown(value)}`);
}

export function requireNonEmpty(name: string, value: string): string {
  if (requireText(name, value) !== "") return value;
  throw invalidArgument(`${name} must not be empty`);
}

export function requireList<T>(name: string, value: readonly T[]): readonly T[] {
  const given: unknown = value;
  if (Array.isArray(given)) return value;
  throw invalidArgument(`${name} must be an array, not ${shown(value)}`);
}

/** An object without other names than these; the error has the nearest one. */
export function requireOptions<T extends object>(options: T, names: OptionNames<T>): T {
  const given: unknown = options;
  if (typeof given !== "object" || given === null || Array.isArray(given)) {
    throw invalidArgument(`Options must be an object, or omitted, not ${shown(given)}`);
  }
  const problem = unknownOption(given, names);
  if (problem !== undefined) throw invalidArgument(problem);
  return options;
}

/** `ERR_INVALID_ARGUMENT`: the message has the value and the valid ones. */
export function invalidArgument(message: string): BranchlogError {
  return new BranchlogError("ERR_INVALID_ARGUMENT", message);
}

/** A value in a message: a string in quotes, an object by its kind only. */
export function shown(value: unknown): string {
  if (typeof value === "string") return JSON.stringify(value.slice(0, 80));
  if (typeof value === "function" || (typeof value === "object" && value !== null)) {
    return Array.isArray(value) ? "an array" : `a value of the type ${typeof value}`;
  }
  return String(value);
}
