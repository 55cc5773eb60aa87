/**
 * Numbers of a JSON text that `JSON.parse` changes: integers that exceed a double, values beyond
 * every double, surplus digits. Other forms of the same value (`1.0`, `1e2`, `-0`) do not count.
 * Pure; linear. `lossless-json` needs seconds and half a gigabyte for a string of 16 MiB, and fails
 * on deep nesting.
 */
import { decodeLine } from "@branchlog/streaming";
import type { JsonObject } from "@branchlog/streaming";
import { isObject, listAt, objectAt } from "./json-fields.ts";

/** Every such number matches; almost no text does. */
const suspicious = /[\d.]{16}|\d[eE][-+]?\d{3}/;

const markCharactersMax = 16;

const numbers = /-?\d[\d.eE+-]*/g;

/** Undefined if parsing changes no number. */
export function changedNumber(json: string): string | undefined {
  for (const { token } of changedNumbers(json)) return token;
  return undefined;
}

interface MarkedNumbers {
  /** Parses to the same value, except for the marked numbers. */
  readonly json: string;
  /** Restores the numbers in what `JSON.stringify` made of any part of the value. */
  readonly restored: (text: string) => string;
}

/** Undefined without changed numbers, or if no mark is free. */
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
 * A longer run of a character than any in the text, one with a single JSON form. Undefined if too
 * long: such a text is binary data, not calls.
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

/** The end of the JSON string whose quote is there. */
export function behindText(json: string, start: number): number {
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
  // Some programs write more digits than a double needs.
  const { length } = stored.digits;
  const isFraction = stored.exponent < 0 && length <= 100 && length > 0;
  return !isFraction || !sameDecimal(stored, decimalOf(value.toPrecision(length)));
}

/** Digits without outer zeros, and the power of ten after them. */
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

// The arguments of tool calls with their numbers as written.

/** By the index of the call in the content of its message. */
export type ExactArguments = ReadonlyMap<number, string>;

const none: ExactArguments = new Map();

/**
 * `JSON.stringify` of the arguments of each call, with the numbers of the line. Empty if parsing
 * changes no number.
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
 * `rawArguments` of a call, kept where its object says less; undefined if absent or if it is
 * another value than the object.
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
