/** Maxima of repairing, with their units in the names and the reasons for their values. */

/** Bytes of one line of a salvage file, before encoding: a line that tools for text can show. */
export const salvagedBytesMax: number = 64 * 1024;

/** Bytes of one write of the repaired copy: few calls, little memory. */
export const copyBytes: number = 1024 * 1024;

/** Bytes at each end of damage that are searched for what it was: more than an envelope takes. */
export const debrisEdgeBytes: number = 4096;

/** Kept originals, or salvage files, of one log: whoever has more has not looked at any. */
export const keptNamesMax: number = 100;
