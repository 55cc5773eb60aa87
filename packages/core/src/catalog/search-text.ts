/** How a query is looked for in texts and in names, and what of a text is shown around it. Pure. */

/** A part of a text, and where in it the match is. */
export interface Snippet {
  readonly text: string;
  readonly matchStart: number;
  readonly matchEnd: number;
}

/** Looks for one query. */
export interface TextSearch {
  /** What is around the first place where the text has the query, in upper or lower case. */
  readonly inText: (text: string) => Snippet | undefined;
  /** The same for a name, of which the query may leave characters out. */
  readonly inName: (name: string) => Snippet | undefined;
}

/** UTF-16 units that are shown before a match, and after it. */
const unitsBefore = 60;
const unitsAfter = 120;

/** Prepares the search for a query; white space around it does not count. */
export function textSearch(query: string): TextSearch {
  const wanted = query.trim();
  const whole = new RegExp(escaped(wanted), "iu");
  // Each character, and as little as possible between it and the next.
  const letters = Array.from(wanted.replaceAll(/\s+/gu, ""), escaped);
  const fuzzy = new RegExp(letters.join("[^]*?"), "iu");
  const find = (pattern: RegExp, text: string): Snippet | undefined => {
    const match = wanted === "" ? null : pattern.exec(text);
    return match === null ? undefined : snippetOf(text, match.index, match[0].length);
  };
  return { inText: (text) => find(whole, text), inName: (name) => find(fuzzy, name) };
}

function snippetOf(text: string, at: number, length: number): Snippet {
  const start = edge(text, Math.max(0, at - unitsBefore));
  const end = edge(text, Math.min(text.length, at + length + unitsAfter));
  return { text: text.slice(start, end), matchStart: at - start, matchEnd: at - start + length };
}

/** The place, or the one before it, so that no character of two surrogates is split. */
function edge(text: string, at: number): number {
  const isSplit = isLow(text.charCodeAt(at)) && at > 0 && isHigh(text.charCodeAt(at - 1));
  return isSplit ? at - 1 : at;
}

function isHigh(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff;
}

function isLow(unit: number): boolean {
  return unit >= 0xdc00 && unit <= 0xdfff;
}

function escaped(text: string): string {
  return text.replaceAll(/[\\^$.*+?()[\]{}|/]/gu, String.raw`\$&`);
}
