/**
 * Words behind `--`, and a lone dash, are not options: they are marked, so that the option parser
 * takes them as values in any place, and unmarked in its result. Pure.
 */
/** NUL: no word of a command line can hold it. */
const mark = "\0";

export type Words = readonly string[];

export function markedWords(words: Words): string[] {
  const before = optionWords(words);
  const behind = words.slice(before.length + 1);
  const dashes = before.map((word) => (word === "-" ? mark + word : word));
  return [...dashes, ...behind.map((word) => mark + word)];
}

export function unmarked(text: string): string {
  return text.replaceAll(mark, "");
}

/** In place. */
export function unmarkArguments(args: Record<string, unknown>): void {
  for (const [name, value] of Object.entries(args)) {
    if (typeof value === "string") args[name] = unmarked(value);
  }
}

export function optionWords(words: Words): Words {
  const end = words.indexOf("--");
  return end < 0 ? words : words.slice(0, end);
}

/** The first word in the form of an option that is none of the known ones. */
export function strayOption(words: Words, known: readonly string[]): string | undefined {
  return optionWords(words).find((word) => isOption(word) && !known.includes(nameOf(word)));
}

/**
 * All words but the options: for a positional that is given repeatedly, the parser would keep the
 * last one.
 * @param valued The options that take the word behind them.
 */
export function plainWords(words: Words, valued: readonly string[] = []): string[] {
  const before = optionWords(words);
  const plain = before.filter(
    (word, at) => !isOption(word) && !valued.includes(before[at - 1] ?? ""),
  );
  return [...plain, ...words.slice(before.length + 1)];
}

/** Negative numbers and a lone dash are not options. */
export function isOption(word: string): boolean {
  return /^-(?!\d+(?:\.\d+)?$)./su.test(word);
}

/** Of combined letters, the first. */
function nameOf(word: string): string {
  if (!word.startsWith("--")) return word.slice(0, 2);
  const name = word.replace(/=.*$/su, "");
  return name.replaceAll(/[A-Z]/gu, (letter) => `-${letter.toLowerCase()}`);
}
