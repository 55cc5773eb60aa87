/** Every maximum and default size of this package, with its unit in the name and its reason. */

/**
 * Longest line, in bytes without "\n", that is joined into one buffer. Ordinary records, inline
 * images included, are shorter; a longer line is described by its ends ({@link LongLine}).
 */
export const lineBytesMaxDefault: number = 16 * 1024 * 1024;

/** Bytes kept of each end of a longer line: far more than any envelope takes. */
export const lineEdgeBytes: number = 4096;

/** Bytes per read: fits the second-level cache, so that the searches after the first are free. */
export const chunkBytesDefault: number = 256 * 1024;

/** How long an asynchronous scan works before it yields to the event loop. */
export const yieldEveryMsDefault: number = 8;

/** Longest value that `pick` builds, in UTF-8 bytes of its strings, keys and numbers. */
export const valueBytesMaxDefault: number = 64 * 1024 * 1024;

/** Longest string that `readShallow` keeps: labels and names, not payloads. */
export const stringBytesMaxDefault: number = 64 * 1024;

/** How long a follower waits before it polls: hints of the system can get lost. */
export const pollMsDefault: number = 1000;
