/** Every maximum of the work with documents, with its unit in the name and the reason for it. */

/** Longest document that is read: parsing takes some fifty times its size in memory. */
export const documentBytesMax: number = 64 * 1024 * 1024;

/** Values that aliases may stand for, all together: far more than PyYAML ever repeats. */
export const aliasedNodesMax: number = 1_000_000;

/** How often a document that cannot be parsed is read again while it is being written. */
export const readAttemptsMax: number = 20;

/** The pause between these attempts: a tool writes a whole document in less, as a rule. */
export const readPauseMs: number = 50;

/** For how long after its last change a document may be half written. */
export const settledAfterMs: number = 1_000;

/** How often an append starts anew because an editor saved the document meanwhile. */
export const appendAttemptsMax: number = 10;
