/**
 * The arguments of tool calls as texts with the numbers that were written, also those that a parser
 * changes. Pure; no answer throws.
 */
import { decodeLine } from "@branchlog/streaming";
import type { JsonObject } from "@branchlog/streaming";
import { markedNumbers } from "./exact-numbers.ts";
import { isObject, listAt, objectAt } from "./json-fields.ts";

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
