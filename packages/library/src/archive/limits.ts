/** Every maximum of the archive, with its unit in the name and the reason for its value. */

/** Bytes of one read or write of a copy: few calls, little memory. */
export const copyBytes: number = 1024 * 1024;

/** Effort of Brotli: half of what the best one saves beyond it, at a fifth of its time. */
export const packQuality: number = 5;

/** 64 MiB: reaches over a repeated context, and takes 300 MB of memory. */
export const packWindowBits: number = 26;
export const packWindowBitsMin: number = 16;

/** Bytes of the files in a pack, unless one alone has more: all before a file are read with it. */
export const packBytesMax: number = 64 * 1024 * 1024;

/** How long deleted files are kept: as in mail programs. */
export const trashMs: number = 30 * 24 * 60 * 60 * 1000;

/** How long ago a file changed that an agent may still be writing. */
export const quietMsMin: number = 60_000;

/** Bytes up to the end of a header that can be changed: some hold all instructions. */
export const headerBytesMax: number = 1024 * 1024;

/** Sessions renamed aside at once: which files are open is asked once for all of them. */
export const asideSessionsMax: number = 64;
