/** Every maximum of the removal of sessions, with its unit in the name and the reason. */

/** How long the command `trash` may take: it renames a file, or copies it to another disk. */
export const trashMsMax: number = 60_000;
