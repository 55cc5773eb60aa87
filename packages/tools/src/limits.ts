/** Every maximum of this package, with its unit in the name and the reason for its value. */

/** Bytes of one line of a salvage file, before encoding: a line that tools for text can show. */
export const salvagedBytesMax: number = 64 * 1024;

/** Bytes of one write of the repaired copy: few calls, little memory. */
export const copyBytes: number = 1024 * 1024;

/** How long ago a file changed if its last line may be unfinished: no write takes longer. */
export const writingMsMax: number = 2_000;

/** Longest text that is searched for secrets, in UTF-16 units: a line with large images. */
export const redactedUnitsMax: number = 32 * 1024 * 1024;
