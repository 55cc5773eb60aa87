/** Every maximum of the catalog, with its unit in the name and the reason for its value. */

/** How far a header is searched: pi's own limit. */
export const headerScanBytesMax: number = 1024 * 1024;

/** Enough to hide latency, small in memory. */
export const filesReadAtOnceMax: number = 10;

export const directoriesReadAtOnceMax: number = 64;

/** How long synchronous work runs before it yields to the event loop. */
export const turnMsMax: number = 5;

/** Bytes read again before a catalog is saved: reading less again is as fast. */
export const catalogSavedAfterBytes: number = 1024 * 1024;

/** The same in the cache of the user: agents spread sessions thinly over many directories. */
export const sharedSavedAfterBytes: number = 64 * 1024;

/** Files of the cache that directories share: one is opened for each when listing. */
export const sharedCatalogs: number = 16;

/** More than a hundred thousand sessions need. */
export const catalogBytesMax: number = 256 * 1024 * 1024;

/** Longer first messages are read again each time. */
export const catalogLineUnitsMax: number = 64 * 1024;

/** What opening a file costs, in bytes that are read in the same time. */
export const openedFileBytes: number = 16 * 1024;

/** Rows of sessions that a list reads which may leave others unread: those of half a second. */
export const listedRowsMax: number = 5_000;

/** Longest message that is built for its text; of longer ones only role and time are read. */
export const messageBytesMax: number = 64 * 1024 * 1024;

/** How long after a change the times of a file show the next one: a clock tick, with margin. */
export const stampTrustedAfterMs: number = 10;

/** How often a growing list is emitted. */
export const partialListEveryMs: number = 100;

/** How often a directory is read without a hint: it stats all its files. */
export const directoryPollMsDefault: number = 5_000;
