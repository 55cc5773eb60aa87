/**
 * Where everything is in the memory of the kernel, which never grows: fixed texts, the table of
 * kinds, the columns of a batch, and the window that holds the bytes being scanned. Places are
 * addresses; 0 means none.
 */

/** Fixed texts as bytes, below the tables. */
export const TEXTS: usize = 0x8000;

/** The table of kinds; see kinds.ts. */
export const KINDS: usize = 0x10000;

/** The columns of a batch; see rows.ts. */
export const ROWS: usize = 0x40000;

/** The answer read last; see answer.ts. */
export const ANSWER: usize = 0x80000;

/** What was read of the line checked last; see check.ts. */
export const CHECK: usize = 0x81000;

/** The window: lines go here to be scanned. Aligned to pages, as reads into it are faster then. */
export const WINDOW: usize = 0x100000;

/** Bytes of the window: one line of the default maximum, and the end of it that is read in blocks. */
export const WINDOW_BYTES: usize = 0x1010000;
