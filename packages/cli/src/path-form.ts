/** What kind of place a word on the command line names. Pure. */

/** Whether a word is always a path: it has a slash, or ends as the files of sessions do. */
export function hasPathForm(word: string): boolean {
  return /[/\\]|\.(?:jsonl|ya?ml)$/.test(word);
}

/** Whether a word is the address of a store, or of a session in one. */
export function isAddress(word: string): boolean {
  return /^postgres(?:ql)?:\/\//.test(word);
}

/** The text without the passwords of the addresses in it. */
export function withoutPasswords(text: string): string {
  return text.replaceAll(/(postgres(?:ql)?:\/+[^\s:@/]*):[^\s@]*@/g, "$1@");
}
