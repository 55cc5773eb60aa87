/**
 * The promises of Branchlog, and which of them no test proves yet. The tidy test holds both lists
 * against the tests that say `Verifies: Pn`, and against the table in docs/promises.md.
 */

/** Every promise, as docs/promises.md has it. */
export const promises: Readonly<Record<string, string>> = {
  P1: "The entries of a log have one total order; reads see it without gaps",
  P2: "An append with an expected tail is checked under the lock; a conflict carries the actual tail",
  P3: "A batch is one write, never interleaved with another process's",
  P4: "Retrying an acknowledged append returns the first result; other content is an error",
  P5: "An acknowledgement means one named thing: `os`, `disk` or `interval`",
  P6: "In `disk`, a new or renamed file is durable too",
  P7: "What was acknowledged survives SIGKILL at any instant",
  P8: "Opening and reading never change a byte of the log",
  P9: "After a crash the log is its longest run of whole records; debris is kept, fenced, reported",
  P10: "One bad record never hides a good one and never stops a projection",
  P11: "With many writers, some without the lock, every acknowledged entry is there once, or reported",
  P12: "A failed append names what was written; if nothing did, nothing changed; the next one works",
  P13: "`verify` finds any flipped bit in a stored record once a checkpoint has seen it",
  P14: "`entries$` has no gap and no duplicate, across the seam to live and across processes",
  P15: "Every projection, kept up to date, equals its full fold",
  P16: "Memory is bounded by entries, the cache limit and contexts held, not by bytes in the log",
  P17: "The cost of an append does not depend on the length of the history",
  P18: "Every walk ends on every input: cycles, duplicates, missing parents, deep chains",
  P19: "Bytes in are bytes out: unknown types, fields, key order and number forms survive",
  P20: "pi reads every pi file and omp every omp file that this engine writes, and the reverse",
  P21: "A checkpoint or catalog may be lost or damaged: only the time changes",
  P22: "Forks hold every entry once, with consistent ids and the same context",
  P23: "Files are 0600, directories 0700; ids and names from outside never become paths unchecked",
  P24: "A file of a newer version is opened read-only unless forced, and never downgraded",
};

/** The promises without a separate test, and why. */
export const notYetProven: Readonly<Record<string, string>> = {};
