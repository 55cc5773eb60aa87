/**
 * The meaning of a tool call, for any agent: a command, an edit with its changed lines, a
 * read, a search, a task for another agent; else its arguments. Pure and total.
 */
import { isStoredObject } from "@branchlog/core/rows";
import { changedLines, patchedFiles, writtenLines } from "./changed-lines.ts";
import type { ChangedLine, ToolUse } from "./shown-conversation.ts";

/** The names under which agents' tools take an argument, the most specific first. */
const argumentNames = {
  command: ["command", "cmd", "script"],
  path: ["path", "file_path", "filePath", "absolute_path", "notebook_path", "filename", "file"],
  before: ["old_string", "oldText", "old_str", "oldString", "old_text"],
  after: ["new_string", "newText", "new_str", "newString", "new_text", "new_source"],
  content: ["content", "file_text", "contents", "text"],
  pattern: ["pattern", "query", "regex", "q", "url"],
  title: ["description", "title", "subagent_type", "agent"],
  prompt: ["prompt", "task", "instructions", "message"],
  patch: ["input", "patch", "diff"],
} as const;

const toolNames = {
  write: /write|create|save/i,
  task: /task|agent|delegate/i,
  search: /grep|glob|search|find|fetch|rg$/i,
  read: /read|view|cat|open|^ls$|list/i,
} as const;

const fieldUnitsMax = 200;

type Given = Readonly<Record<string, unknown>>;

export function toolUse(tool: string, given: unknown): ToolUse {
  const values = argumentsOf(given);
  return editIn(tool, values) ?? commandIn(values) ?? taskIn(tool, values) ?? lookIn(tool, values);
}

/** The subject of a call, on one line, without the name of its tool. */
export function useText(use: ToolUse): string {
  return aboutUse(use).slice(0, useUnitsMax).replaceAll(/\s+/g, " ").trim();
}

const useUnitsMax = 400;

function aboutUse(use: ToolUse): string {
  switch (use.kind) {
    case "shell":
      return use.command;
    case "edit":
    case "write":
      return `${use.path} +${use.added} −${use.removed}`;
    case "read":
      return use.range === "" ? use.path : `${use.path} ${use.range}`;
    case "search":
      return use.path === "" ? use.pattern : `${use.pattern} in ${use.path}`;
    case "task":
      return use.title === "" ? use.prompt : use.title;
    case "other":
      return use.fields.map(([name, value]) => `${name}: ${value}`).join(", ");
  }
}

/** Some agents store arguments as JSON text. */
function argumentsOf(given: unknown): Given {
  if (isGiven(given)) return given;
  if (typeof given !== "string") return {};
  try {
    const value: unknown = JSON.parse(given);
    return isGiven(value) ? value : { input: given };
  } catch {
    return { input: given };
  }
}

function isGiven(value: unknown): value is Given {
  return isStoredObject(value) && !Array.isArray(value);
}

function textIn(values: Given, name: keyof typeof argumentNames): string | undefined {
  for (const key of argumentNames[name]) {
    const value = Object.hasOwn(values, key) ? values[key] : undefined;
    if (typeof value === "string") return value;
  }
  return undefined;
}

function editIn(tool: string, values: Given): ToolUse | undefined {
  const patched = patchedFiles(textIn(values, "patch") ?? "");
  if (patched !== undefined) return edited("edit", patched.path, patched.lines);
  const path = textIn(values, "path") ?? "";
  const edits: readonly unknown[] = Array.isArray(values["edits"]) ? values["edits"] : [values];
  const lines: ChangedLine[] = [];
  for (const edit of edits.filter(isGiven)) {
    const [before, after] = [textIn(edit, "before"), textIn(edit, "after")];
    if (before === undefined && after === undefined) continue;
    if (lines.length > 0) lines.push({ kind: "place", text: "⋯" });
    lines.push(...changedLines(before ?? "", after ?? ""));
  }
  if (lines.length > 0) return edited("edit", path, lines);
  const content = textIn(values, "content");
  const isWritten = content !== undefined && path !== "" && isWriting(tool, values);
  return isWritten ? edited("write", path, writtenLines(content)) : undefined;
}

function isWriting(tool: string, values: Given): boolean {
  return toolNames.write.test(tool) || values["command"] === "create";
}

function edited(kind: "edit" | "write", path: string, lines: readonly ChangedLine[]): ToolUse {
  const count = (wanted: ChangedLine["kind"]): number =>
    lines.reduce((sum, line) => sum + (line.kind === wanted ? 1 : 0), 0);
  return { kind, path, added: count("added"), removed: count("removed"), lines };
}

function commandIn(values: Given): ToolUse | undefined {
  // The commands of a tool for files, as `view`, are not shell commands.
  if (textIn(values, "path") !== undefined) return undefined;
  const text = textIn(values, "command");
  if (text !== undefined) return { kind: "shell", command: text };
  const words: unknown = values["command"];
  if (!Array.isArray(words) || words.length === 0) return undefined;
  const [program, option, script] = words.map(String);
  const isScript = program?.endsWith("sh") === true && /^-l?c$/.test(option ?? "");
  const command = isScript && script !== undefined ? script : words.map(String).join(" ");
  return { kind: "shell", command };
}

function taskIn(tool: string, values: Given): ToolUse | undefined {
  const prompt = textIn(values, "prompt");
  if (prompt === undefined || !toolNames.task.test(tool)) return undefined;
  return { kind: "task", title: textIn(values, "title") ?? "", prompt };
}

function lookIn(tool: string, values: Given): ToolUse {
  const [path, pattern] = [textIn(values, "path"), textIn(values, "pattern")];
  if (pattern !== undefined && toolNames.search.test(tool)) {
    return { kind: "search", pattern, path: path ?? "" };
  }
  if (path !== undefined && toolNames.read.test(tool)) {
    return { kind: "read", path, range: rangeIn(values) };
  }
  return { kind: "other", fields: Object.entries(values).map(([key, value]) => field(key, value)) };
}

function rangeIn(values: Given): string {
  const [offset, limit] = [values["offset"], values["limit"]];
  const first = typeof offset === "number" ? offset : 1;
  if (typeof limit === "number") return `${first}–${first + limit - 1}`;
  return first > 1 ? `${first}–` : "";
}

function field(key: string, value: unknown): readonly [string, string] {
  let text: string;
  try {
    text = typeof value === "string" ? value : (JSON.stringify(value) ?? "");
  } catch {
    text = "(nested too deeply to be shown)";
  }
  return [key, text.length > fieldUnitsMax ? `${text.slice(0, fieldUnitsMax)}…` : text];
}
