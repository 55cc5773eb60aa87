/** Every command, declared once; the module that runs it is loaded only then. */
import { changingCommands } from "./changing-commands.ts";
import type { Declared } from "./declaration.ts";
import { archiveCommands } from "./archive-commands.ts";
import { readingCommands } from "./reading-commands.ts";

export const commands: readonly Declared[] = [
  ...readingCommands,
  ...changingCommands,
  ...archiveCommands,
];

export const commandNames: readonly string[] = commands.map(({ name }) => name);

export function commandNamed(name: string | undefined): Declared | undefined {
  return commands.find((one) => one.name === name);
}
