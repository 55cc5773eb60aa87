/** Every maximum of the catalog, with its unit in the name and the reason for its value. */

/**
 * How far discovery searches for a header: pi's own limit, far above any header that agents write.
 */
export const headerScanBytesMax: number = 1024 * 1024;

/** Files read at the same time while listing: enough to hide latency, small in memory. */
export const filesReadAtOnceMax: number = 10;

/** Directories of which the names are read at the same time. */
export const directoriesReadAtOnceMax: number = 64;

/** How long work that does not wait runs before it yields to the event loop. */
export const turnMsMax: number = 5;

/** What has to be read anew before a catalog is saved: reading less again is as fast. */
export const catalogSavedAfterBytes: number = 1024 * 1024;

/** What saving a byte of a catalog costs, in bytes of sessions that are read in the same time. */
export const catalogSaveCost: number = 16;

/** What of a catalog is written at once. */
export const catalogPieceBytes: number = 1024 * 1024;

/** Longest catalog that is read: more than a hundred thousand sessions take. */
export const catalogBytesMax: number = 256 * 1024 * 1024;

/** Longest line of a catalog: longer first messages are read again each time. */
export const catalogLineUnitsMax: number = 64 * 1024;

/** Bad lines that a catalog may have: each costs an error, and what has more is none of ours. */
export const catalogBadLinesMax: number = 1000;

/** What opening a file costs, in bytes that are read in the same time. */
export const openedFileBytes: number = 16 * 1024;

/** Longest message that is built for its text; of longer ones only role and time are read. */
export const messageBytesMax: number = 64 * 1024 * 1024;

/** How long after a change a file's times tell of the next one: a clock tick, and to spare. */
export const stampTrustedAfterMs: number = 10;

/** How often a list that is still being read is shown while it grows. */
export const partialListEveryMs: number = 100;

/** How often a directory is read without a hint: a stat of all its files takes a while. */
export const directoryPollMsDefault: number = 5_000;
