/** Whether a word is always a path: it has a slash, or ends as the files of sessions do. Pure. */
export function hasPathForm(word: string): boolean {
  return /[/\\]|\.(?:jsonl|ya?ml)$/.test(word);
}
