/** Every maximum of the work with documents, with its unit in the name and the reason for it. */

/** Longest document that is read: parsing takes some fifty times its size in memory. */
export const documentBytesMax: number = 64 * 1024 * 1024;

/** Nesting of a document: well below what reading and comparing it take of the stack. */
export const documentDepthMax: number = 500;

/** Values that aliases may refer to, all together: far more than PyYAML ever repeats. */
export const aliasedNodesMax: number = 1_000_000;

/** How often a document is read again while it may be half written: for two seconds. */
export const readAttemptsMax: number = 40;

/** The pause between these attempts. */
export const readPauseMs: number = 50;

/** For how long a document must be unchanged to be read. It may be read again. */
export const readQuietMs: number = 100;

/** The same for replacing it, after which later writes of the tool would be lost. */
export const settledAfterMs: number = 1_000;

/** Restarts of an append because an editor saved the document. */
export const appendAttemptsMax: number = 10;

/** How often an append waits for a program that writes the document: for ten seconds. */
export const replaceWaitsMax: number = 200;
