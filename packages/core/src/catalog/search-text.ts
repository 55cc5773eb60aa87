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

/** Prepares the search for a query; white space around it does not count. Linear in each text. */
export function textSearch(query: string): TextSearch {
  const wanted = query.trim().toLowerCase();
  const letters = Array.from(wanted.replaceAll(/\s+/gu, ""));
  if (wanted === "") return { inText: () => undefined, inName: () => undefined };
  const inText = (text: string): Snippet | undefined => {
    const { folded, places } = inLowerCase(text);
    const at = folded.indexOf(wanted);
    if (at < 0) return undefined;
    return snippetOf(text, placeIn(places, at), placeIn(places, at + wanted.length));
  };
  return { inText, inName: (name) => inText(name) ?? withGaps(name, letters) };
}

/** A text in lower case, and where its units stand in the text if that is not at the same place. */
interface LowerCase {
  readonly folded: string;
  readonly places: readonly number[] | null;
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

/** From the first letter to the last, if all of them are there in their order. */
function withGaps(name: string, letters: readonly string[]): Snippet | undefined {
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

function snippetOf(text: string, from: number, to: number): Snippet {
  const start = edge(text, Math.max(0, from - unitsBefore));
  const end = edge(text, Math.min(text.length, to + unitsAfter));
  return { text: text.slice(start, end), matchStart: from - start, matchEnd: to - start };
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
