/** What kind of place a word on the command line names, and how it is shown. Pure. */
import { schemeOf, shownAddress, withoutPasswords } from "@branchlog/core/addresses";

/** Whether a word is always a path: it has a slash, or ends as the files of sessions do. */
export function hasPathForm(word: string): boolean {
  return /[/\\]|\.(?:jsonl|ya?ml)$/.test(word);
}

/** Whether a word is the address of a store, or of a session in one; also a malformed one. */
export function isAddress(word: string): boolean {
  return schemeOf(word) !== undefined;
}

/** A word of the command line as it may be shown: of an address, without its password. */
export function shownWord(word: string): string {
  return withoutSecrets(word, [word]);
}

/** A message without the words that may hold a password, and without those of libraries. */
export function withoutSecrets(text: string, words: readonly string[] = []): string {
  // Also of an option: --to=ADDRESS.
  const values = words.map((word) => word.replace(/^-[^=]*=/, ""));
  const addresses = values.filter(isAddress);
  const shown = addresses.reduce((so, word) => so.replaceAll(word, () => shownAddress(word)), text);
  return withoutPasswords(shown);
}
