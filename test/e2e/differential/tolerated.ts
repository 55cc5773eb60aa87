/**
 * What versions of pi do otherwise than the drop-in, and why that is right: scripts keep out of the
 * way of it. Everything that is not listed here must be the same.
 */

/** The differences by name. `deviations.test.ts` shows those that the newest pi still has. */
export const tolerated = {
  "writes-at-answer":
    "The file appears with the first answer of the model, so a prompt without one is lost. Until 0.99.0.",
  "loses-names": "A branch that is extracted loses the name if it was set on another branch.",
  "loses-labels":
    "A branch that is extracted is cut at every label entry, and boundaries of compactions on labels are lost. Until 0.85.0.",
  "keeps-missing-parents":
    "A branch that is extracted keeps the parent of its first entry though there is none. Until 0.85.0.",
  "loses-header-fields": "Forks and extracts lose the header fields of other programs.",
  "rewrites-bytes":
    "Forks, extracts and migrations write every entry anew. The records are the same, the bytes are not.",
  "splits-at-separators":
    "Lists take U+2028 and U+2029 in texts for ends of lines, and do not count such messages.",
  "lists-ties-in-any-order": "Sessions that changed at the same time are listed in any order.",
  "lists-no-folder": "listAll knows only the folders of the agent. Until 0.77.0.",
  "names-destination":
    "The `fromId` of a branch summary is the entry that is gone to, not the one that is left. Until 0.84.3.",
  "glues-entries":
    "The first append to a file without a last newline destroys its last entry, and itself. Until 0.84.4.",
  "repeats-header":
    "A file without an answer of the model gets its header again with the first one. Until 0.76.0.",
  "keeps-empty-cwd": "An empty working directory in a header is not that of the process.",
  "has-no-entry-count": "There is no getEntryCount. Until 0.99.0.",
  "has-no-projection": "There are no projections, nor context entries. Until 0.87.0.",
} as const;

/** The name of a difference. */
export type Tolerated = keyof typeof tolerated;
