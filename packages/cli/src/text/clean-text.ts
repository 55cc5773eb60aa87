/**
 * Text of sessions without control sequences, safe for a terminal, and cut to a given length. Cuts
 * never split a surrogate pair. Pure; truncated text costs nothing, except when lines are counted.
 */

/** Control characters but line feed and tab, and marks that change the direction of text. */
const steering = /[^\P{Cc}\n\t]|[\u061C\u200E\u200F\u202A-\u202E\u2066-\u2069]/gu;

/** All lines are kept. */
export function cleanText(text: string): string {
  return text.replaceAll("\r\n", "\n").replaceAll(steering, "\uFFFD");
}

/** Line ends are replaced as well; spaces are kept. */
export function wholeLine(text: string): string {
  return cleanText(text).replaceAll("\n", "\uFFFD");
}

/**
 * JSON, or a piece of it, of equal value: control characters occur only in strings, where they
 * become escapes. The return before a line feed is white space.
 */
export function cleanJson(json: string): string {
  return json.replaceAll("\r", " ").replaceAll(steering, (character) => unicodeEscape(character));
}

/** `\u001b`. */
export function unicodeEscape(character: string): string {
  return String.raw`\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
}

export function isSteering(text: string): boolean {
  return wholeLine(text) !== text;
}

/** One line of at most `unitsMax` UTF-16 units, with an ellipsis if it was cut. */
export function oneLine(text: string, unitsMax: number): string {
  const start = text.trimStart();
  const piece = cutAt(start, unitsMax * 4);
  const line = cleanText(piece.trimEnd().replaceAll(/\s+/g, " "));
  const isWhole = piece.length === start.length && line.length <= unitsMax;
  return isWhole ? line : `${cutAt(line, unitsMax - 1).trimEnd()}…`;
}

/** One unit fewer rather than half a character. */
export function cutAt(text: string, unitsMax: number): string {
  if (text.length <= unitsMax) return text;
  const isSplit = isHigh(text.charCodeAt(unitsMax - 1)) && isLow(text.charCodeAt(unitsMax));
  return text.slice(0, isSplit ? unitsMax - 1 : unitsMax);
}

export interface TextLimits {
  readonly linesMax: number;
  readonly unitsMax: number;
}

export interface TextStart {
  readonly text: string;
  /** `12 more lines` or `340 more characters`; empty if nothing was cut. */
  readonly rest: string;
}

/** Whole lines where they fit. */
export function startOf(text: string, { linesMax, unitsMax }: TextLimits): TextStart {
  const whole = text.trimEnd();
  const end = endOfLine(whole, linesMax);
  const shown = cutAt(whole.slice(0, end), unitsMax);
  return { text: cleanText(shown), rest: restText(whole.slice(shown.length)) };
}

function endOfLine(text: string, linesMax: number): number {
  let end = -1;
  for (let line = 0; line < linesMax; line += 1) {
    end = text.indexOf("\n", end + 1);
    if (end < 0) return text.length;
  }
  return end;
}

function restText(rest: string): string {
  if (rest === "") return "";
  const newlines = rest.startsWith("\n") ? countOf(rest, "\n") : 0;
  if (newlines > 0) return newlines === 1 ? "1 more line" : `${newlines} more lines`;
  return `${rest.length} more characters`;
}

function countOf(text: string, part: string): number {
  let count = 0;
  for (let at = text.indexOf(part); at >= 0; at = text.indexOf(part, at + 1)) count += 1;
  return count;
}

function isHigh(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff;
}

function isLow(unit: number): boolean {
  return unit >= 0xdc00 && unit <= 0xdfff;
}
