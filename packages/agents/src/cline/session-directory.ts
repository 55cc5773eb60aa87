/** The directory of a session of Cline: its messages, what is known of it, and its sub-agents. */
import { basename, dirname, join } from "node:path";
import { filesBelow } from "../files-below.ts";

/** Beside the messages of a session, and of its sub-agents. */
export function manifestOf(path: string): string {
  const directory = dirname(path);
  return join(directory, `${basename(directory)}.json`);
}

/** All else in the directory of a session is of that session. */
export function belongings(path: string): readonly string[] {
  const directory = dirname(path);
  if (basename(path) !== `${basename(directory)}.messages.json`) return [];
  return filesBelow(directory).filter((file) => file !== path);
}
