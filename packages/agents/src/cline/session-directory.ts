/** The directory of a session of Cline: its messages, what is known of it, and its sub-agents. */
import { readdirSync } from "node:fs";
import { basename, dirname, join } from "node:path";

/** Beside the messages of a session, and of its sub-agents. */
export function manifestOf(path: string): string {
  const directory = dirname(path);
  return join(directory, `${basename(directory)}.json`);
}

/** All else in the directory of a session is of that session. */
export function belongings(path: string): readonly string[] {
  const directory = dirname(path);
  if (basename(path) !== `${basename(directory)}.messages.json`) return [];
  try {
    const all = readdirSync(directory, { withFileTypes: true });
    const files = all.filter((one) => one.isFile()).map(({ name }) => join(directory, name));
    return files.filter((file) => file !== path);
  } catch {
    return [];
  }
}
