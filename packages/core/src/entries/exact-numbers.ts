/**
 * Numbers of a JSON text that `JSON.parse` does not keep: whole ones beyond 2^53 that no double
 * holds, those beyond every double, and digits that a double has no room for. Other forms of the
 * same value (`1.0`, `1e2`, `-0`) are kept as values, and do not count. Pure; linear in the text.
 * `lossless-json` reads such numbers too, but takes seconds and half a gigabyte for a string of 16
 * MiB, and fails on deep nesting.
 */
import { decodeLine } from "@branchlog/streaming";
import type { JsonObject } from "@branchlog/streaming";
import { isObject, listAt, objectAt } from "./json-fields.ts";

/** What a text must hold at least to have such a number: almost none does. */
const suspicious = /[\d.]{16}|\d[eE][-+]?\d{3}/;

const markCharactersMax = 16;

const numbers = /-?\d[\d.eE+-]*/g;

/** The first number of a JSON text that parsing changes; undefined if it changes none. */
export function changedNumber(json: string): string | undefined {
  for (const { token } of changedNumbers(json)) return token;
  return undefined;
}

/** A JSON text whose changed numbers are marked texts, and the function that removes the marks. */
interface MarkedNumbers {
  /** Parses to the same value, but for these numbers. */
  readonly json: string;
  /** Puts the numbers as they were into what `JSON.stringify` made of any part of the value. */
  readonly restored: (text: string) => string;
}

/** The text with its changed numbers marked; undefined if it has none, or no mark is free. */
export function markedNumbers(json: string): MarkedNumbers | undefined {
  const mark = suspicious.test(json) ? markFor(json) : undefined;
  if (mark === undefined) return undefined;
  const parts: string[] = [];
  let at = 0;
  for (const { token, start } of changedNumbers(json)) {
    parts.push(json.slice(at, start), `"${mark}${token}"`);
    at = start + token.length;
  }
  if (at === 0) return undefined;
  const marked = new RegExp(`"${mark.replaceAll("\\", "\\\\")}([^"]*)"`, "g");
  return {
    json: [...parts, json.slice(at)].join(""),
    restored: (text) => text.replaceAll(marked, "$1"),
  };
}

/**
 * More of a character than any run of it in the text, one that JSON has a single way to write.
 * Undefined where that would be too many: such a text holds no calls, but binary data.
 */
function markFor(json: string): string | undefined {
  const character = String.raw`\u0001`;
  let longest = 0;
  for (const [run] of json.matchAll(/(?:\\u0001)+/g)) longest = Math.max(longest, run.length);
  const count = longest / character.length + 1;
  return count > markCharactersMax ? undefined : character.repeat(count);
}

interface NumberToken {
  readonly token: string;
  readonly start: number;
}

function* changedNumbers(json: string): Generator<NumberToken> {
  if (!suspicious.test(json)) return;
  let at = 0;
  while (at < json.length) {
    const quote = json.indexOf('"', at);
    const end = quote < 0 ? json.length : quote;
    for (const { 0: token, index } of json.slice(at, end).matchAll(numbers)) {
      if (isChanged(token)) yield { token, start: at + index };
    }
    at = quote < 0 ? end : behindText(json, quote);
  }
}

/** Where the text in quotes ends that begins there. */
function behindText(json: string, start: number): number {
  for (let at = json.indexOf('"', start + 1); at >= 0; at = json.indexOf('"', at + 1)) {
    let escapes = 0;
    while (json[at - 1 - escapes] === "\\") escapes += 1;
    if (escapes % 2 === 0) return at + 1;
  }
  return json.length;
}

function isChanged(token: string): boolean {
  const value = Number(token);
  if (!Number.isFinite(value)) return true;
  const stored = decimalOf(token);
  if (sameDecimal(stored, decimalOf(String(value)))) return false;
  // Some programs write a fraction with more digits than tell it from its neighbours.
  const { length } = stored.digits;
  const isFraction = stored.exponent < 0 && length <= 100 && length > 0;
  return !isFraction || !sameDecimal(stored, decimalOf(value.toPrecision(length)));
}

/** A decimal number: its digits without zeros around them, and the power of ten behind these. */
interface Decimal {
  readonly digits: string;
  readonly exponent: number;
}

function decimalOf(token: string): Decimal {
  const [, whole = "", fraction = "", power = "0"] =
    /^-?(\d*)\.?(\d*)(?:[eE]([-+]?\d+))?$/.exec(token) ?? [];
  const digits = `${whole}${fraction}`;
  let [start, end] = [0, digits.length];
  while (start < end && digits[start] === "0") start += 1;
  while (end > start && digits[end - 1] === "0") end -= 1;
  const exponent = Number(power) - fraction.length + digits.length - end;
  return { digits: digits.slice(start, end), exponent: start === end ? 0 : exponent };
}

function sameDecimal(one: Decimal, other: Decimal): boolean {
  return one.digits === other.digits && one.exponent === other.exponent;
}

// The arguments of tool calls as texts with the numbers that were written, also those that a parser
// changes. Pure; no answer throws.

/** Texts of arguments, by the place of the call in the content of its message. */
export type ExactArguments = ReadonlyMap<number, string>;

const none: ExactArguments = new Map();

/**
 * What `JSON.stringify` gives for the arguments of each call of an entry, its numbers as its line
 * has them. Empty for a line without a number that parsing changes.
 */
export function exactArguments(line: string, indent: number = 0): ExactArguments {
  const marked = markedNumbers(line);
  if (marked === undefined) return none;
  const decoded = decodeLine(Buffer.from(marked.json));
  if (!decoded.ok) return none;
  const texts = new Map<number, string>();
  for (const [place, block] of listAt(objectAt(decoded.value, "message"), "content").entries()) {
    const given = objectAt(isObject(block) ? block : undefined, "arguments");
    if (given === undefined) continue;
    texts.set(place, marked.restored(JSON.stringify(given, null, indent)));
  }
  return texts;
}

/**
 * The text that a call was given, where it is kept as `rawArguments` because its object says less;
 * undefined for every other call, and for a text of something else than the object.
 */
export function keptArguments(call: JsonObject, indent: number): string | undefined {
  const { arguments: given, rawArguments: raw } = call;
  const marked = typeof raw === "string" ? markedNumbers(raw) : undefined;
  if (marked === undefined || typeof raw !== "string") return undefined;
  try {
    if (JSON.stringify(JSON.parse(raw)) !== JSON.stringify(given ?? {})) return undefined;
    return marked.restored(JSON.stringify(JSON.parse(marked.json), null, indent));
  } catch {
    return undefined;
  }
}
