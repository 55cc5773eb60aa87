/**
 * The words under which lines are indexed, and the words required by a query. A query may begin and
 * end inside of a word, so its ends stand for all words of the vocabulary that have them. Every
 * line with a match has the words; the reverse need not hold. Pure.
 */
import type { EntryText } from "../search/entry-texts.ts";
import { foldedText } from "../search/search-query.ts";

/** Alone and with each letter and digit, of lines with a name: a query may leave some out. */
const namingWord = "0n";
/** Of lines that are not indexed by words, since they are too long, or have words that are. */
const anyWord = "0a";

/** Of a line whose texts are not read. */
export const wordsOfUnread: ReadonlySet<string> = new Set([anyWord]);

const wordUnitsMax = 64;
/** Texts of a line, in UTF-16 units; longer ones are searched each time. */
const indexedUnitsMax = 4 * 1024 * 1024;

/** More than that, and most lines have one. */
const alternativesMax = 400;

/** ASCII letters, digits, and everything beyond ASCII. */
const runs = /[a-z]+|\d+|\P{ASCII}+/gu;

/** Each once; empty for a line that cannot match. */
export function indexedWords(texts: readonly EntryText[]): ReadonlySet<string> {
  const words = new Set<string>();
  const units = texts.reduce((sum, { text }) => sum + text.length, 0);
  if (units > indexedUnitsMax) return wordsOfUnread;
  for (const { kind, text } of texts) {
    const folded = foldedText(text);
    for (const run of folded.match(runs) ?? []) addRun(run, words);
    if (kind !== "name") continue;
    words.add(namingWord);
    for (const letter of folded) if (isNameLetter(letter)) words.add(namingWord + letter);
  }
  return words;
}

function isNameLetter(letter: string): boolean {
  return /^[a-z\d]$/u.test(letter);
}

function addRun(run: string, words: Set<string>): void {
  if (run.charCodeAt(0) > 0x7f) {
    for (let at = 0; at < run.length; at += 1) words.add(pairAt(run, at));
  } else words.add(run.length > wordUnitsMax ? anyWord : run);
}

/** Two adjacent UTF-16 units; one at the end. Languages without spaces have no shorter words. */
function pairAt(run: string, at: number): string {
  return `u${hexOf(run, at)}${at + 1 < run.length ? hexOf(run, at + 1) : ""}`;
}

function hexOf(run: string, at: number): string {
  return run.charCodeAt(at).toString(16).padStart(4, "0");
}

/** Whether words may have it as a part. */
export function isOfVocabulary(word: string): boolean {
  return /^(?:[a-z]+|\d+)$/u.test(word);
}

/** All words of the index, as lines; each piece begins and ends with a newline. */
export type Vocabulary = readonly string[];

/**
 * An expression of FTS5 that every line with all of the texts satisfies.
 * @param texts In lower case.
 * @returns Undefined if the index cannot tell.
 */
export function matchExpression(
  texts: readonly string[],
  vocabulary: Vocabulary,
): string | undefined {
  const terms = [...new Set(texts.flatMap((text) => termsOf(text, vocabulary)))];
  return terms.length === 0 ? undefined : `(${terms.join(" AND ")}) OR ${quoted(anyWord)}`;
}

/** The same for lines with a name that may have all of the letters, in any order. */
export function nameExpression(texts: readonly string[]): string {
  const letters = [...new Set(texts.join(""))].filter(isNameLetter);
  // Without one, every name may match.
  if (letters.length === 0) return `${quoted(namingWord)} *`;
  return letters.map((letter) => quoted(namingWord + letter)).join(" AND ");
}

function termsOf(text: string, vocabulary: Vocabulary): string[] {
  return [...text.matchAll(runs)].flatMap(({ 0: run, index }) => {
    const isOpen = { start: index === 0, end: index + run.length === text.length };
    if (run.charCodeAt(0) > 0x7f) return pairsOf(run, isOpen.end);
    return run.length > wordUnitsMax ? [] : (termOf(run, isOpen, vocabulary) ?? []);
  });
}

function pairsOf(run: string, isOpen: boolean): string[] {
  if (run.length === 1 && isOpen) return [`${quoted(pairAt(run, 0))} *`];
  const length = isOpen ? run.length - 1 : run.length;
  return Array.from({ length }, (_, at) => quoted(pairAt(run, at)));
}

interface OpenEnds {
  /** Whether the word may begin before. */
  readonly start: boolean;
  /** Whether it may continue. */
  readonly end: boolean;
}

/** Undefined for a part of most words. */
function termOf(run: string, isOpen: OpenEnds, vocabulary: Vocabulary): string | undefined {
  if (!isOpen.start) return isOpen.end ? `${quoted(run)} *` : quoted(run);
  const words = new Set<string>();
  const wanted = isOpen.end ? run : `${run}\n`;
  for (const piece of vocabulary) {
    for (let at = piece.indexOf(wanted); at >= 0; at = piece.indexOf(wanted, at)) {
      const end = piece.indexOf("\n", at);
      words.add(piece.slice(piece.lastIndexOf("\n", at) + 1, end));
      if (words.size > alternativesMax) return undefined;
      at = end;
    }
  }
  // No line has such a word, but one that is not indexed by words may.
  if (words.size === 0) return quoted(run);
  return `(${Array.from(words, quoted).join(" OR ")})`;
}

function quoted(word: string): string {
  return `"${word}"`;
}
