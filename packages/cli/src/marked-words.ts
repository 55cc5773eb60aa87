/**
 * The words of a command line as a parser of options may see them. What stands behind `--`, and a
 * lone dash, is no option: it is marked, so that the parser takes it for what it is, wherever it
 * stands, and what comes out is unmarked again. Pure.
 */
/** No word of a command line can hold it: the system ends words there. */
const mark = "\0";

/** Words as they were given. */
export type Words = readonly string[];

/** The words for the parser: without the `--`, what is behind it marked. */
export function markedWords(words: Words): string[] {
  const before = optionWords(words);
  const behind = words.slice(before.length + 1);
  // Where nothing is before it, the name of the command comes first behind it.
  const marked = behind.map((word, at) => (before.length + at === 0 ? word : mark + word));
  return [...before.map((word) => (word === "-" ? mark + word : word)), ...marked];
}

/** A text of the parser as people read it. */
export function unmarked(text: string): string {
  return text.replaceAll(mark, "");
}

/** Unmarks what was parsed, in place. */
export function unmarkArguments(args: Record<string, unknown>): void {
  for (const [name, value] of Object.entries(args)) {
    if (typeof value === "string") args[name] = unmarked(value);
  }
}

/** The words before `--`. */
export function optionWords(words: Words): Words {
  const end = words.indexOf("--");
  return end < 0 ? words : words.slice(0, end);
}

/** The first word that is meant as an option, but is none of those that a help text lists. */
export function strayOption(words: Words, help: string): string | undefined {
  const listed = help.split("\n").flatMap((line) => /^ +-[^\s,]+(?:, -[^\s,]+)*/u.exec(line) ?? []);
  const known = new Set(listed.flatMap((names) => names.trim().split(", ")));
  return optionWords(words).find((word) => isOption(word) && !known.has(nameOf(word)));
}

/** A number below zero is none, nor is a lone dash. */
export function isOption(word: string): boolean {
  return /^-(?!\d+(?:\.\d+)?$)./su.test(word);
}

/** As the help texts have it; of letters in one word, the first. */
function nameOf(word: string): string {
  if (!word.startsWith("--")) return word.slice(0, 2);
  const name = word.replace(/=.*$/su, "");
  return name.replaceAll(/[A-Z]/gu, (letter) => `-${letter.toLowerCase()}`);
}
