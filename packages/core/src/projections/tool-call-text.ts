/**
 * A call of a tool as one natural line, as ConnectOnion shows it: `run(command='ls -la')`. Meant to
 * be read, not parsed: quotes inside a text stay as they are, long values are cut. Pure.
 */
import { isStoredObject } from "./stored-value.ts";

/** Characters of a value that are shown; a longer one ends in three dots. */
const shownMax = 50;

/** `name(argument=value, …)`; arguments that are no object are left out. */
export function toolCallText(name: unknown, given: unknown): string {
  const called = typeof name === "string" ? name : "";
  const shown = Object.entries(argumentsOf(given)).map(([key, value]) => {
    return typeof value === "string" ? `${key}='${cut(value)}'` : `${key}=${cut(valueText(value))}`;
  });
  return `${called}(${shown.join(", ")})`;
}

/** Arguments as an object; some providers store them as JSON text. */
function argumentsOf(given: unknown): object {
  if (isStoredObject(given)) return given;
  if (typeof given !== "string") return {};
  try {
    const parsed: unknown = JSON.parse(given);
    return isStoredObject(parsed) ? parsed : {};
  } catch {
    return {};
  }
}

/** At most so many characters, whole ones. */
function cut(text: string): string {
  if (text.length <= shownMax) return text;
  const characters = Array.from(text.slice(0, 2 * shownMax + 2));
  return characters.length <= shownMax ? text : `${characters.slice(0, shownMax).join("")}...`;
}

/**
 * A value as Python shows it, since that is where these lines come from; not much longer than what
 * is shown of it.
 */
function valueText(value: unknown, unitsMax: number = 4 * shownMax): string {
  if (value === null || value === undefined) return "None";
  if (value === true) return "True";
  if (value === false) return "False";
  if (typeof value === "string") return `'${value.slice(0, unitsMax)}'`;
  if (typeof value === "number") return String(value);
  if (typeof value !== "object") return "";
  const isList = Array.isArray(value);
  let text = isList ? "[" : "{";
  for (const [key, item] of Object.entries(value)) {
    if (text.length > unitsMax) return text;
    if (text.length > 1) text += ", ";
    if (!isList) text += `'${key.slice(0, unitsMax)}': `;
    // Each level takes a character, so the room left bounds the recursion.
    text += valueText(item, Math.max(0, unitsMax - text.length));
  }
  return `${text}${isList ? "]" : "}"}`;
}
