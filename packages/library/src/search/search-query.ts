/**
 * Matches a query with texts and names, cuts snippets, and gives bytes that every match contains.
 * Pure.
 */
import { searchExpression } from "./search-expression.ts";

/** A part of a text, and the position of the match in it. */
export interface Snippet {
  readonly text: string;
  readonly matchStart: number;
  readonly matchEnd: number;
}

export interface TextSearch {
  /** Case-insensitive; the first match. */
  readonly inText: (text: string) => Snippet | undefined;
  /** Like `inText`, but the query may omit characters. */
  readonly inName: (name: string) => Snippet | undefined;
  /** In lower case; a text matches if it has all of them. Undefined: determined in another way. */
  readonly wanted: readonly string[] | undefined;
  /**
   * ASCII without white space in the JSON of every match, in any case or escaped; undefined if
   * unknown.
   */
  readonly bytesOf: string | undefined;
}

type SnippetOf = (text: string, from: number, to: number) => Snippet;

/** In UTF-16 units. */
const unitsBefore = 60;
const unitsAfter = 120;
/** Limit of whole lines, on each side. */
const contextUnitsMax = 4000;

export interface QueryOptions {
  /** A regular expression of RE2. Default false. */
  readonly regex?: boolean;
  /** The exact text. Default: all of its words, in any order; a quoted phrase counts as one. */
  readonly exact?: boolean;
  /** Whole lines around the match. Default: a part of one. */
  readonly contextLines?: number | undefined;
}

/**
 * Ignores case and surrounding white space. Linear in each text.
 *
 * @throws BranchlogError `ERR_INVALID_ARGUMENT` for a malformed regular expression.
 */
export function textSearch(query: string, options: QueryOptions = {}): TextSearch {
  const snippetOf = snippets(options.contextLines);
  if (options.regex === true) return expressionSearch(query, snippetOf);
  const whole = query.trim().toLowerCase();
  const letters = Array.from(whole.replaceAll(/[\s"]+/gu, ""));
  const wanted = options.exact === true ? [whole].filter(Boolean) : wordsOf(whole);
  // An exact occurrence is the best place to show.
  const shown = [whole, ...wanted].toSorted((one, other) => other.length - one.length);
  const inText = (text: string): Snippet | undefined => {
    const { folded, places } = inLowerCase(text);
    if (wanted.length === 0 || !wanted.every((word) => folded.includes(word))) return undefined;
    for (const word of shown) {
      const at = folded.indexOf(word);
      if (at >= 0) return snippetOf(text, placeIn(places, at), placeIn(places, at + word.length));
    }
    return undefined;
  };
  const inName = (name: string): Snippet | undefined =>
    inText(name) ?? (letters.length === 0 ? undefined : withGaps(name, letters, snippetOf));
  return { inText, inName, wanted, bytesOf: rarestRun(wanted) };
}

/** A quoted phrase is one of them; an unpaired quote is a character. */
function wordsOf(whole: string): readonly string[] {
  const words = whole.matchAll(/"([^"]+)"|\S+/gu);
  return [...new Set(Array.from(words, ([word, quoted = word]) => quoted.trim()).filter(Boolean))];
}

function expressionSearch(query: string, snippetOf: SnippetOf): TextSearch {
  const { find, wanted } = searchExpression(query);
  const inText = (text: string): Snippet | undefined => {
    const found = find(text);
    return found && snippetOf(text, found.start, found.end);
  };
  return { inText, inName: inText, wanted, bytesOf: rarestRun(wanted ?? []) };
}

/**
 * Characters that JSON has as they are or as `\\u00..`. Without `i` and `k`, which non-ASCII
 * characters fold to, and the solidus, which may be escaped.
 */
const plainRun = /[!#-.0-9:-@[\]-hjl-~]{2,64}/gu;

/** ASCII by frequency in English text and code, most frequent first. */
const frequent = "etaonsrhldcumfpg.-_wybv0123456789xjqz";

/** The part that occurs in the fewest lines; undefined if none is selective. */
function rarestRun(wanted: readonly string[]): string | undefined {
  const rarity = (run: string): number =>
    Array.from(run).reduce((sum, character) => {
      const rank = frequent.indexOf(character);
      return sum + 4 + (rank < 0 ? frequent.length : rank) / 4;
    }, 0);
  const runs = wanted.flatMap((word) => word.match(plainRun) ?? []);
  return runs.toSorted((one, other) => rarity(other) - rarity(one))[0];
}

/** `offsets` only where lower case changes lengths. */
interface LowerCase {
  readonly folded: string;
  readonly places: readonly number[] | null;
}

/** As the texts that are searched; the lower case of a letter may depend on those around it. */
export function foldedText(text: string): string {
  return inLowerCase(text).folded;
}

function inLowerCase(text: string): LowerCase {
  const folded = text.toLowerCase();
  if (folded.length === text.length) return { folded, places: null };
  const places: number[] = [];
  let at = 0;
  let pieces = "";
  for (const character of text) {
    const lower = character.toLowerCase();
    for (let unit = 0; unit < lower.length; unit += 1) places.push(at);
    pieces += lower;
    at += character.length;
  }
  places.push(at);
  return { folded: pieces, places };
}

function placeIn(places: LowerCase["places"], at: number): number {
  return places === null ? at : (places[at] ?? at);
}

function withGaps(
  name: string,
  letters: readonly string[],
  snippetOf: SnippetOf,
): Snippet | undefined {
  let [at, found, start] = [0, 0, -1];
  for (const character of name) {
    if (character.toLowerCase() === letters[found]) {
      if (found === 0) start = at;
      found += 1;
    }
    at += character.length;
    if (found === letters.length) return snippetOf(name, start, at);
  }
  return undefined;
}

function snippets(contextLines: number | undefined): SnippetOf {
  return (text, from, to) => {
    const [first, last] =
      contextLines === undefined
        ? [from - unitsBefore, to + unitsAfter]
        : [
            Math.max(lineStart(text, from, contextLines), from - contextUnitsMax),
            Math.min(lineEnd(text, to, contextLines), to + contextUnitsMax),
          ];
    const start = edge(text, Math.max(0, first));
    const end = edge(text, Math.min(text.length, last));
    return { text: text.slice(start, end), matchStart: from - start, matchEnd: to - start };
  };
}

function lineStart(text: string, at: number, lines: number): number {
  let start = at;
  for (let line = 0; line <= lines && start > 0; line += 1) {
    start = text.lastIndexOf("\n", start - (line === 0 ? 1 : 2)) + 1;
  }
  return start;
}

function lineEnd(text: string, at: number, lines: number): number {
  let end = at - 1;
  for (let line = 0; line <= lines && end < text.length; line += 1) {
    const next = text.indexOf("\n", end + 1);
    end = next < 0 ? text.length : next;
  }
  return end;
}

/** Adjusted so that no surrogate pair is split. */
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
