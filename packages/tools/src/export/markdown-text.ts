/** A session as Markdown. Marks in a text never close the surrounding ones. Pure. */
import type { JsonObject, JsonValue } from "@branchlog/streaming";
import type { SessionEntry, SessionHeader } from "@branchlog/core";
import { isObject, keptArguments, objectAt, stringAt, timeAt } from "@branchlog/core/rows";
import type { ExactArguments } from "@branchlog/core/rows";

export const markdownIndent = 2;

export function markdownTitle(header: SessionHeader, name: string | undefined): string {
  // Decoding boundary: the header is a JSON object, whatever its fields are.
  const stored = header as unknown as JsonObject;
  const id = stringAt(stored, "id") ?? "";
  const facts: (readonly [string, string | undefined])[] = [
    ["session", id],
    ["created", timeText(timeAt(stored, "timestamp"))],
    ["directory", stringAt(stored, "cwd") || undefined],
  ];
  const lines = facts.flatMap(([what, value]) =>
    value === undefined ? [] : [`- ${what}: ${codeSpan(value)}\n`],
  );
  return `# ${oneLine(name ?? `Session ${id}`)}\n\n${lines.join("")}`;
}

/** @param exact The arguments of its calls, indented, where parsing changed their numbers. */
export function entryMarkdown(entry: SessionEntry, exact?: ExactArguments): string {
  // Decoding boundary: an entry is handed out as stored; its type promises more than that.
  const stored = entry as unknown as JsonObject;
  const time = timeText(timeAt(stored, "timestamp"));
  switch (entry.type) {
    case "message": {
      const message = objectAt(stored, "message");
      if (message === undefined) return "";
      return section(speakerOf(message), time, partsOf(message, exact));
    }
    case "custom_message": {
      const type = oneLine(stringAt(stored, "customType") ?? "");
      const isHidden = stored["display"] === false ? " (hidden)" : "";
      return section(`Extension ${type}${isHidden}`, time, contentParts(stored["content"]));
    }
    case "compaction":
      return summary("Compaction", "For the model, this stands for what came before:", stored);
    case "branch_summary":
      return summary("Branch summary", "What another branch came to:", stored);
    default:
      return "";
  }
}

function summary(title: string, what: string, stored: JsonObject): string {
  const text = stringAt(stored, "summary") ?? "";
  const time = timeText(timeAt(stored, "timestamp"));
  return section(title, time, [`*${what}*\n`, text.trim() === "" ? "" : quotedText(text)]);
}

function section(title: string, time: string | undefined, parts: readonly string[]): string {
  const heading = `## ${title}${time === undefined ? "" : ` · ${time}`}\n`;
  return `\n${[heading, ...parts.filter((part) => part !== "")].join("\n")}`;
}

function speakerOf(message: JsonObject): string {
  const role = stringAt(message, "role") ?? "unknown";
  switch (role) {
    case "user":
      return "User";
    case "assistant": {
      const model = stringAt(message, "model");
      return model === undefined ? "Assistant" : `Assistant (${oneLine(model)})`;
    }
    case "toolResult": {
      const failed = message["isError"] === true ? " (failed)" : "";
      return `Result of ${oneLine(stringAt(message, "toolName") ?? "a tool")}${failed}`;
    }
    case "bashExecution":
      return "Shell";
    case "system":
      return "System";
    case "custom":
      return `Extension ${oneLine(stringAt(message, "customType") ?? "")}`;
    default:
      return oneLine(role);
  }
}

function partsOf(message: JsonObject, exact: ExactArguments | undefined): string[] {
  if (message["role"] === "bashExecution") return shellParts(message);
  const isOutput = message["role"] === "toolResult";
  const parts = contentParts(message["content"], { isOutput, exact });
  const error = stringAt(message, "errorMessage");
  if (error !== undefined && error !== "") parts.push("**Error**\n", fenced(error));
  return parts;
}

function shellParts(message: JsonObject): string[] {
  const output = stringAt(message, "output") ?? "";
  const code = message["exitCode"];
  return [
    fenced(`$ ${stringAt(message, "command") ?? ""}`),
    output === "" ? "" : fenced(output),
    typeof code === "number" && code !== 0 ? `*Exit code ${code}*\n` : "",
  ];
}

interface Showing {
  readonly isOutput: boolean;
  readonly exact: ExactArguments | undefined;
}

const asSaid: Showing = { isOutput: false, exact: undefined };

function contentParts(content: JsonValue | undefined, showing = asSaid): string[] {
  const { isOutput, exact } = showing;
  if (typeof content === "string") return [spokenText(content, isOutput)];
  const blocks = Array.isArray(content) ? content : [];
  return blocks.map((block, place) => blockText(block, isOutput, exact?.get(place)));
}

function blockText(block: JsonValue, isOutput: boolean, exact: string | undefined): string {
  const type = isObject(block) ? stringAt(block, "type") : undefined;
  if (!isObject(block) || type === undefined) return otherBlock(block);
  switch (type) {
    case "text":
      return spokenText(stringAt(block, "text") ?? "", isOutput);
    case "thinking": {
      const thinking = stringAt(block, "thinking") ?? "";
      return thinking.trim() === "" ? "" : `*Thinking*\n\n${quotedText(thinking)}`;
    }
    case "toolCall": {
      const shown = exact ?? keptArguments(block, markdownIndent);
      const given = shown ?? JSON.stringify(block["arguments"] ?? {}, null, markdownIndent);
      const name = codeSpan(stringAt(block, "name") ?? "?");
      return `**Tool call** ${name}\n\n${fenced(given, "json")}`;
    }
    case "image": {
      const bytes = Math.floor(((stringAt(block, "data") ?? "").length * 3) / 4);
      return `*Image: ${oneLine(stringAt(block, "mimeType") ?? "")}, about ${bytes} bytes*\n`;
    }
    default:
      return otherBlock(block);
  }
}

/** What people and models say is Markdown; what tools return may be anything. */
function spokenText(text: string, isOutput: boolean): string {
  if (text.trim() === "") return "";
  return isOutput ? fenced(text) : closedText(text);
}

function otherBlock(block: JsonValue): string {
  return fenced(JSON.stringify(block, null, markdownIndent), "json");
}

function timeText(iso: string | undefined): string | undefined {
  return iso === undefined ? undefined : `${iso.slice(0, -5).replace("T", " ")}Z`;
}

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
