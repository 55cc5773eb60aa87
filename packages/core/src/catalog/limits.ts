/** Every maximum of the catalog, with its unit in the name and the reason for its value. */

/** How far discovery looks for a header: pi's own limit, far above any header that agents write. */
export const headerScanBytesMax: number = 1024 * 1024;

/** Files read at the same time while listing: enough to hide latency, small in memory. */
export const filesReadAtOnceMax: number = 10;

/** Files and directories looked at (not read) at the same time. */
export const filesLookedAtOnceMax: number = 64;

/** Longest message that is built for its text; of longer ones only role and time are read. */
export const messageBytesMax: number = 64 * 1024 * 1024;

/** How long after a change a file's times tell of the next one: a clock tick, and to spare. */
export const stampTrustedAfterMs: number = 10;

/** How often a list that is still being read is shown while it grows. */
export const partialListEveryMs: number = 100;

/** How often a directory is looked at without a hint: looking at all of its files takes a while. */
export const directoryPollMsDefault: number = 5_000;
