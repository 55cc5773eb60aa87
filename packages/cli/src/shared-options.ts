/** The arguments that several commands take, declared once. Pure. */
import { agentNames } from "./session-filter.ts";
import { flag, number, required, text } from "./declaration.ts";
import type { Flag, NumberOption, RequiredPositional, TextOption } from "./declaration.ts";

export const file: RequiredPositional = required(
  "The session file, or the name or id of a session",
  "session",
);
export const json: Flag = flag("Print JSON, for programs");
export const noSave: Flag = flag("Do not save checkpoints or catalogs of large sessions");
export const from: NumberOption = number("Start at this revision (from 1)", 1);
export const estimate: Flag = flag("Estimate costs that agents do not store, from list prices");
export const limit: NumberOption = { ...number("Maximum number", 1), letter: "n" };
export const agent: TextOption = text(
  "NAMES",
  `Only of these agents, separated by commas: ${agentNames.join(", ")}`,
);
export const since: TextOption = text(
  "TIME",
  "Only what changed since: 12h, 7d, 2w, today, yesterday, monday, or a date",
);
export const until: TextOption = text("TIME", "Only what changed until then, including that day");

export function entry(describe: string): TextOption {
  return { ...text("ENTRY", describe), takes: "entry" };
}

export function output(describe: string): TextOption {
  return { ...text("FILE", describe), letter: "o", takes: "path" };
}
