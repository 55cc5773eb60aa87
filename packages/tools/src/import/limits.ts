/** Every maximum of an import, with its unit in the name and the reason for its value. */

/** Longest source line that is read; the entry made of it must fit in a string, too. */
export const sourceLineBytesMax: number = 256 * 1024 * 1024;

/** Levels of a record: well below what the stack of `JSON.stringify` takes. */
export const recordDepthMax: number = 500;

/** Source bytes that become one message: many lines may carry parts of it. */
export const mergedBytesMax: number = 64 * 1024 * 1024;

/** Titles, events and prompts that wait for the record that decides on them. */
export const waitingMax: number = 1_000;

/** Bytes of the new log that are gathered for one write. */
export const writeBytes: number = 1024 * 1024;
