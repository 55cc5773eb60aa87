/** What `--help` prints, from the declarations of the commands, within 80 columns. Pure. */
import type { Declared, OptionDeclaration } from "./declaration.ts";
import { changingCommands } from "./changing-commands.ts";
import { archiveCommands } from "./archive-commands.ts";
import { readingCommands } from "./reading-commands.ts";

const columnsMax = 80;
const leftMax = 36;

export type Row = readonly [left: string, right: string];

const help: Row = ["  -h, --help", "Show this help"];
const noColour: Row = ["      --no-color", "Disable colours, also on a terminal"];
const noPager: Row = ["      --no-pager", "Disable the pager, also on a terminal"];

const fileWords =
  "FILE is the path, name or id of a session, a prefix of its id, or @latest; " +
  "branchlog PATH shows the session.";

const entryWords =
  "ENTRY is the id of an entry, a prefix of its id, its label, @leaf or @tail; " +
  "ENTRY~2 is the parent of its parent, ~2 the same for the leaf.";

const outcomes =
  "Exit codes: 0 success; 1 the session is damaged, or the command failed; 2 invalid usage; " +
  "130 interrupted. Colours: NO_COLOR, FORCE_COLOR. Pager: BRANCHLOG_PAGER, PAGER. " +
  "Stack traces of failures: BRANCHLOG_DEBUG=1.";

export const about = "Inspects, repairs and appends to sessions of coding agents.";

/** Notes for every command. */
export const notes: readonly string[] = [fileWords, entryWords, outcomes];

/** The help of the program. */
export function programHelp(): string {
  const own: readonly Row[] = [
    ["  branchlog help [command]", "Show this help, or the help of a command"],
    ["  branchlog completion [shell]", "Print a script that completes commands in your shell"],
  ];
  return sections([
    ["branchlog <command> FILE", "branchlog                   The latest sessions, on a terminal"],
    [about],
    ["Commands that read:", ...rows(readingCommands.map(commandRow))],
    ["Commands that change or write sessions:", ...rows(changingCommands.map(commandRow))],
    ["Commands that remove or restore sessions:", ...rows(archiveCommands.map(commandRow))],
    ["Others:", ...rows(own)],
    ["Options:", ...rows([help, ["  -V, --version", "Show the version"], noColour, noPager])],
    ...notes.map((note) => wrapped(note, columnsMax)),
  ]);
}

function commandRow(declared: Declared): Row {
  return [`  branchlog ${declared.usage}`, declared.about];
}

/** The help of one command. */
export function commandHelp(declared: Declared): string {
  const { usage, positionals, options, examples } = declared;
  const places = Object.entries(positionals).map(([name, { describe }]): Row => [
    `  ${name}`,
    describe,
  ]);
  const shown = Object.entries(options).map(optionRow);
  return sections([
    [`branchlog ${usage}`],
    [declared.about],
    ...(places.length === 0 ? [] : [["Arguments:", ...rows(places)]]),
    ["Options:", ...rows([...shown, help, noColour])],
    [
      "Examples:",
      ...examples.flatMap(([line, purpose]) => [`  branchlog ${line}`, `      ${purpose}`]),
    ],
  ]);
}

/** `  -n, --limit N`. */
export function optionRow([name, option]: readonly [string, OptionDeclaration]): Row {
  const { letter } = option;
  const start = letter === undefined ? "      " : `  -${letter}, `;
  return [`${start}--${name}${valueText(option)}`, `${option.describe}${choicesText(option)}`];
}

function valueText({ choices, value }: OptionDeclaration): string {
  if (choices !== undefined) return " WORD";
  return value === undefined ? "" : ` ${value}`;
}

function choicesText({ choices, default: usual, isRequired }: OptionDeclaration): string {
  const parts = [
    ...(choices === undefined ? [] : [choices.join(", ")]),
    ...(typeof usual === "string" ? [`default: ${usual}`] : []),
    ...(isRequired === true ? ["required"] : []),
  ];
  return parts.length === 0 ? "" : ` (${parts.join("; ")})`;
}

function sections(parts: readonly (readonly string[])[]): string {
  return `${parts.map((lines) => lines.join("\n")).join("\n\n")}\n`;
}

/** The texts on the right start in one column, after the longest on the left that fits. */
function rows(all: readonly Row[]): string[] {
  const indent = Math.max(...all.map(([left]) => left.length).filter((n) => n <= leftMax)) + 2;
  return all.flatMap(([left, right]) => {
    const lines = wrapped(right, columnsMax - indent);
    const first = left.length + 2 > indent ? [left] : [];
    const texts = lines.map((line, at) => {
      const before = at === 0 && first.length === 0 ? left : "";
      return `${before.padEnd(indent)}${line}`;
    });
    return [...first, ...texts];
  });
}

function wrapped(text: string, columns: number): string[] {
  const lines: string[] = [];
  let line = "";
  for (const word of text.split(" ")) {
    if (line !== "" && line.length + 1 + word.length > columns) {
      lines.push(line);
      line = word;
    } else line = line === "" ? word : `${line} ${word}`;
  }
  return [...lines, line];
}
