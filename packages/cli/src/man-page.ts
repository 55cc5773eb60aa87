/** The manual page `branchlog.1`, from the same declarations as the help. Pure. */
import { commands } from "./commands.ts";
import type { Declared } from "./declaration.ts";
import { about, notes, optionRow } from "./help-text.ts";

export function manPage(version: string): string {
  const lines = [
    `.TH BRANCHLOG 1 "" "branchlog ${version}" "User Commands"`,
    ".SH NAME",
    `branchlog \\- ${escaped(lowerFirst(about))}`,
    ".SH SYNOPSIS",
    ".B branchlog",
    escaped("[command] [arguments] [options]"),
    ".SH DESCRIPTION",
    ...notes.flatMap((note) => [".PP", escaped(note)]),
    ".SH COMMANDS",
    ...commands.flatMap((declared) => commandLines(declared)),
    ".SH OPTIONS OF EVERY COMMAND",
    ...termLines("-h, --help", "Show the help of the command"),
    ...termLines("-V, --version", "Show the version"),
    ...termLines("--no-color", "Disable colours, also on a terminal"),
    ...termLines("--no-pager", "Disable the pager, also on a terminal"),
  ];
  return `${lines.join("\n")}\n`;
}

function commandLines({
  usage,
  about: purpose,
  positionals,
  options,
  examples,
}: Declared): string[] {
  return [
    `.SS "${escaped(`branchlog ${usage}`)}"`,
    escaped(`${purpose}.`),
    ...Object.entries(positionals).flatMap(([name, { describe }]) => termLines(name, describe)),
    ...Object.entries(options).flatMap((option) => {
      const [left, right] = optionRow(option);
      return termLines(left.trim(), right);
    }),
    ".PP",
    "Examples:",
    ...examples.flatMap(([line, says]) => termLines(`branchlog ${line}`, says)),
  ];
}

function termLines(term: string, text: string): string[] {
  return [".TP", `.B ${escaped(term)}`, escaped(text)];
}

/** Dashes that can be copied; no text is taken as a request. */
function escaped(text: string): string {
  const plain = text.replaceAll("\\", "\\e").replaceAll("-", "\\-").replaceAll('"', "\\(dq");
  return /^[.']/u.test(plain) ? `\\&${plain}` : plain;
}

function lowerFirst(text: string): string {
  return text.slice(0, 1).toLowerCase() + text.slice(1).replace(/\.$/u, "");
}
