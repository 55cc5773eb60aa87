/** A session as Markdown. Marks in a text never close the surrounding ones. Pure. */
import type { JsonObject } from "@branchlog/streaming";
import type { SessionEntry, SessionHeader } from "@branchlog/core";
import { entryParts } from "@branchlog/core/entries";
import type { EntryPart, Speaker, ToolCallPart } from "@branchlog/core/entries";
import { keptArguments, objectAt, stringAt } from "@branchlog/core/rows";
import type { ExactArguments } from "@branchlog/core/rows";

export const markdownIndent = 2;

export function markdownTitle(header: SessionHeader, name: string | undefined): string {
  // Decoding boundary: the header is a JSON object, whatever its fields are.
  const stored = header as unknown as JsonObject;
  const id = stringAt(stored, "id") ?? "";
  const facts: (readonly [string, string | undefined])[] = [
    ["session", id],
    ["created", timeText(stored)],
    ["directory", stringAt(stored, "cwd") || undefined],
  ];
  const lines = facts.flatMap(([what, value]) =>
    value === undefined ? [] : [`- ${what}: ${codeSpan(value)}\n`],
  );
  return `# ${oneLine(name ?? `Session ${id}`)}\n\n${lines.join("")}`;
}

/** @param exact The arguments of its calls, indented, where parsing changed their numbers. */
export function entryMarkdown(entry: SessionEntry, exact?: ExactArguments): string {
  const said = entryParts(entry);
  if (said === undefined) return "";
  const { speaker, parts } = said;
  // Decoding boundary: an entry is handed out as stored; its type promises more than that.
  const stored = entry as unknown as JsonObject;
  const time = timeText(stored);
  switch (entry.type) {
    case "message": {
      if (objectAt(stored, "message") === undefined) return "";
      const isOutput = speaker.role === "toolResult";
      const shown = parts.flatMap((part) => partMarkdown(part, isOutput, exact));
      return section(headingOf(speaker), time, shown);
    }
    case "custom_message": {
      const isHidden = stored["display"] === false ? " (hidden)" : "";
      const shown = parts.flatMap((part) => partMarkdown(part, false));
      return section(`${headingOf(speaker)}${isHidden}`, time, shown);
    }
    case "compaction":
      return summary("Compaction", "For the model, this stands for what came before:", time, parts);
    case "branch_summary":
      return summary("Branch summary", "Summary of another branch:", time, parts);
    default:
      return "";
  }
}

function summary(
  title: string,
  what: string,
  time: string | undefined,
  parts: readonly EntryPart[],
): string {
  const texts = parts.flatMap((part) => (part.kind === "summary" ? [part.text] : []));
  const quoted = texts.map((text) => (text.trim() === "" ? "" : quotedText(text)));
  return section(title, time, [`*${what}*\n`, ...quoted]);
}

function section(title: string, time: string | undefined, parts: readonly string[]): string {
  const heading = `## ${title}${time === undefined ? "" : ` · ${time}`}\n`;
  return `\n${[heading, ...parts.filter((part) => part !== "")].join("\n")}`;
}

function headingOf({ role = "unknown", model, tool, customType, isError }: Speaker): string {
  switch (role) {
    case "user":
      return "User";
    case "assistant":
      return model === undefined ? "Assistant" : `Assistant (${oneLine(model)})`;
    case "toolResult":
      return `Result of ${oneLine(tool ?? "a tool")}${isError ? " (failed)" : ""}`;
    case "bashExecution":
      return "Shell";
    case "system":
      return "System";
    case "custom":
      return `Extension ${oneLine(customType ?? "")}`;
    default:
      return oneLine(role);
  }
}

/** Some may be empty. */
function partMarkdown(part: EntryPart, isOutput: boolean, exact?: ExactArguments): string[] {
  switch (part.kind) {
    case "text":
      return [spokenText(part.text, isOutput)];
    case "thinking":
      return part.text.trim() === "" ? [] : [`*Thinking*\n\n${quotedText(part.text)}`];
    case "call":
      return [callMarkdown(part, exact)];
    case "image": {
      const bytes = Math.floor((part.data.length * 3) / 4);
      return [`*Image: ${oneLine(part.mimeType)}, about ${bytes} bytes*\n`];
    }
    case "shell": {
      const { command, output, exitCode = 0 } = part;
      const ending = exitCode === 0 ? "" : `*Exit code ${exitCode}*\n`;
      return [fenced(`$ ${command}`), output === "" ? "" : fenced(output), ending];
    }
    case "error":
      return part.text === "" ? [] : ["**Error**\n", fenced(part.text)];
    case "data":
      return [fenced(JSON.stringify(part.value, null, markdownIndent), "json")];
    case "summary":
    case "name":
    case "label":
      return [];
  }
}

function callMarkdown(part: ToolCallPart, exact: ExactArguments | undefined): string {
  // Decoding boundary: a block of a stored entry is JSON.
  const block = part.block as JsonObject;
  const shown = exact?.get(part.place) ?? keptArguments(block, markdownIndent);
  const given = shown ?? JSON.stringify(part.arguments ?? {}, null, markdownIndent);
  return `**Tool call** ${codeSpan(part.tool ?? "?")}\n\n${fenced(given, "json")}`;
}

/** What people and models say is Markdown; what tools return may be anything. */
function spokenText(text: string, isOutput: boolean): string {
  if (text.trim() === "") return "";
  return isOutput ? fenced(text) : closedText(text);
}

/** Of the record, to the second; undefined if absent or unreadable. */
function timeText(record: JsonObject): string | undefined {
  const text = stringAt(record, "timestamp") ?? "";
  const ms = Date.parse(text);
  if (Number.isNaN(ms)) return undefined;
  // Formatting costs five times as much as parsing, and most have this form.
  const iso = isoForm.test(text) ? text : new Date(ms).toISOString();
  return `${iso.slice(0, -5).replace("T", " ")}Z`;
}

const isoForm = /^\d{4}-\d\d-\d\dT[0-2]\d:\d\d:\d\d\.\d{3}Z$/;

export function fenced(text: string, language = ""): string {
  const fence = "`".repeat(Math.max(3, longestRun(text, "`") + 1));
  return `${fence}${language}\n${text}${text.endsWith("\n") ? "" : "\n"}${fence}\n`;
}

export function codeSpan(text: string): string {
  const line = oneLine(text);
  const ticks = "`".repeat(longestRun(line, "`") + 1);
  const space = line.startsWith("`") || line.endsWith("`") ? " " : "";
  return `${ticks}${space}${line}${space}${ticks}`;
}

function quotedText(text: string): string {
  const lines = closedText(text).trimEnd().split("\n");
  return `${lines.map((line) => (line === "" ? ">" : `> ${line}`)).join("\n")}\n`;
}

/** Closes a fence that the text leaves open. */
export function closedText(text: string): string {
  const whole = text.trimEnd();
  const open = openFence(whole);
  return `${whole}\n${open === "" ? "" : `${open}\n`}`;
}

function oneLine(text: string): string {
  const line = text.replaceAll(/\s+/g, " ").trim();
  return line.length > lineUnitsMax ? `${line.slice(0, lineUnitsMax).trimEnd()}…` : line;
}

const lineUnitsMax = 120;

function openFence(text: string): string {
  let open = "";
  for (const [, mark = "", rest = ""] of text.matchAll(/^ {0,3}(`{3,}|~{3,})(.*)$/gm)) {
    if (open === "") {
      // A fence of backticks with further backticks behind it is inline code.
      if (!mark.startsWith("`") || !rest.includes("`")) open = mark;
    } else if (mark[0] === open[0] && mark.length >= open.length && rest.trim() === "") open = "";
  }
  return open;
}

function longestRun(text: string, mark: string): number {
  let longest = 0;
  for (let at = text.indexOf(mark); at >= 0; at = text.indexOf(mark, at)) {
    const start = at;
    while (text[at] === mark) at += 1;
    longest = Math.max(longest, at - start);
  }
  return longest;
}
