/** Places for the samples of commands: hostile text wherever there can be text. */
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { runs, seed } from "../support/fault-seed.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";
import { fixture } from "./command-run.ts";
import { type SamplePlace, samples, samplesOf } from "./command-samples.ts";

/** A colour, a title, a C1 sequence, DEL, a return, and every mark of direction. */
export const steers: string =
  "\u001B[31mRED\u001B]0;title\u0007\u009B2J\u007F\r" +
  "\u061C\u200E\u200F\u202A\u202B\u202C\u202D\u202E\u2066\u2067\u2068\u2069";
/** The same with a separate line. */
export const hostile: string = `${steers}\nFORGED`;

const stamp = (second: number): string => new Date(1_750_000_000_000 + second * 1000).toISOString();
const usage = { input: 1, output: 1, cacheRead: 0, cacheWrite: 0, totalTokens: 2 };

/** A session that is hostile wherever there can be text, with all kinds of entries. */
function sessionLines(version: 1 | 3): string[] {
  const header = { type: "session", version, id: hostile, timestamp: stamp(0), cwd: hostile };
  const call = { type: "toolCall", id: hostile, name: hostile, arguments: { [hostile]: hostile } };
  const text = { type: "text", text: hostile };
  const image = { type: "image", mimeType: hostile, data: "AA==" };
  const said = { provider: hostile, model: hostile, api: hostile, stopReason: "stop", usage };
  const messages = [
    { role: "user", content: [text, image], timestamp: 1 },
    { role: "assistant", content: [{ type: "thinking", thinking: hostile }, text, call], ...said },
    { role: "toolResult", toolName: hostile, toolCallId: hostile, content: [text], isError: true },
    { role: "bashExecution", command: hostile, output: hostile, exitCode: 1 },
    { role: hostile, content: hostile },
  ];
  const others = [
    { type: "model_change", provider: hostile, modelId: hostile },
    { type: "thinking_level_change", thinkingLevel: hostile },
    { type: "label", targetId: "e1", label: hostile },
    { type: "label", targetId: hostile, label: hostile },
    { type: "session_info", name: hostile },
    { type: "custom", customType: hostile, data: { [hostile]: hostile } },
    { type: "custom_message", customType: hostile, content: hostile, display: true },
    { type: "compaction", summary: hostile, firstKeptEntryId: "e1", tokensBefore: 1 },
    { type: "branch_summary", fromId: hostile, summary: hostile },
    { type: hostile, [hostile]: hostile },
  ];
  const drafts = [...messages.map((message) => ({ type: "message", message })), ...others];
  const entries = drafts.map((draft, i) => {
    const links = { id: i === 1 ? hostile : `e${i}`, parentId: parentOf(i) };
    return { ...draft, ...(version === 1 ? {} : links), timestamp: stamp(i) };
  });
  // What JSON.stringify escapes may be there raw, but for the control characters below U+0020.
  return [header, ...entries].map((line) => JSON.stringify(line));
}

function parentOf(i: number): string | null {
  if (i === 0) return null;
  return i === 2 ? hostile : `e${i - 1}`.replace("e1", hostile);
}

function damagedLines(): string[] {
  const [, ...entries] = sessionLines(3);
  const orphan = { type: "custom", customType: "x", id: "o", parentId: `${hostile}?` };
  const cycle = { type: "custom", customType: "x", id: `${hostile}!`, parentId: `${hostile}!` };
  const more = [orphan, cycle, cycle].map((line) =>
    JSON.stringify({ ...line, timestamp: stamp(99) }),
  );
  return [...entries, `{"type":"${steers}`, steers, "\0\0", ...more, `{"type":"mess`];
}

/** YAML takes these characters as escapes only. */
const yamlText = JSON.stringify(hostile).replaceAll(
  /[\u007F-\uFFFF]/g,
  (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
);

const document = [
  `name: ${yamlText}`,
  "turns:",
  `- turn: 1\n  input: ${yamlText}\n  result: ${yamlText}`,
  `  model: ${yamlText}\n  expected: ${yamlText}\n  passed: false`,
  `messages:\n  1:\n  - role: user\n    content: ${yamlText}`,
].join("\n");

/** What is given to the commands, by what it is. Each makes it in a new directory. */
const places: readonly (readonly [string, (directory: string) => string])[] = [
  ["a session", (directory) => written(directory, "jsonl", sessionLines(3))],
  ["an old session", (directory) => written(directory, "jsonl", sessionLines(1))],
  ["a damaged session", (directory) => written(directory, "jsonl", damagedLines())],
  ["a document", (directory) => written(directory, "yaml", [document])],
  ["a damaged document", (directory) => written(directory, "yaml", ["name: x", `"${hostile}`])],
  ["a transcript", (directory) => written(directory, "jsonl", [transcript()])],
  ["a text", (directory) => written(directory, "jsonl", [hostile])],
  ["an empty file", (directory) => written(directory, "jsonl", [])],
  ["nothing", (directory) => join(directory, `${hostile}.jsonl`)],
  ["a link", (directory) => linkTo(written(directory, "jsonl", sessionLines(3)))],
  ["a word", () => hostile],
  ["a directory", (directory) => withSession(directory)],
  ["an empty directory", (directory) => directory],
];

/** All places in a soak run; else a session, and some of the others, by turns over the commands. */
export function placesFor(command: string): typeof places {
  const turn = Object.keys(samples).indexOf(command) + seed;
  return places.filter((_, n) => n === 0 || (n + turn) % runs(8, 1) === 0);
}

function written(directory: string, extension: string, lines: readonly string[]): string {
  const path = join(directory, `${hostile}.${extension}`);
  writeFileSync(path, lines.map((line) => `${line}\n`).join(""));
  return path;
}

function withSession(directory: string): string {
  written(directory, "jsonl", sessionLines(3));
  return directory;
}

function linkTo(path: string): string {
  const link = `${path}.link.jsonl`;
  symlinkSync(path, link);
  return link;
}

function transcript(): string {
  return readFileSync(fixture("claude/conversation.jsonl"), "utf8");
}

function hostileDirectory(): string {
  const directory = join(temporaryDirectory(), hostile);
  mkdirSync(directory);
  return directory;
}

/** The path of a session that is hostile wherever there can be text. */
export function hostileSession(): string {
  return written(hostileDirectory(), "jsonl", sessionLines(3));
}

/**
 * The samples of a command, each in new directories, as some of them change these. Where there is
 * no session, one tells as much as all.
 */
export function* samplesOn(
  name: string,
  what: string,
  at: (directory: string) => string,
): Generator<readonly string[]> {
  const place = (): SamplePlace => ({
    file: at(hostileDirectory()),
    output: hostileDirectory(),
    entryId: hostile,
  });
  const length = what.endsWith("session") ? samplesOf(name, place()).length : 1;
  for (let i = 0; i < length; i += 1) yield [name, ...(samplesOf(name, place())[i] ?? [])];
}
