/** A session as Markdown. Markup in a text never closes the surrounding markup. Pure. */
import type { JsonObject } from "@branchlog/streaming";
import type { SessionHeader } from "@branchlog/core";
import { keptArguments, stringAt } from "@branchlog/core/rows";
import type { ExactArguments } from "@branchlog/core/rows";
import { estimateOf } from "../usage/estimate.ts";
import { useText } from "@branchlog/library/catalogs";
import type { CallItem, CallResult, TurnFacts, TurnItem } from "@branchlog/library/catalogs";

export const markdownIndent = 2;

export function markdownTitle(header: SessionHeader, name: string | undefined): string {
  // Decoding boundary: the header is a JSON object, whatever its fields are.
  const stored = header as unknown as JsonObject;
  const id = stringAt(stored, "id") ?? "";
  const facts: (readonly [string, string | undefined])[] = [
    ["session", id],
    ["created", timeOf(Date.parse(stringAt(stored, "timestamp") ?? ""))],
    ["directory", stringAt(stored, "cwd") || undefined],
  ];
  const lines = facts.flatMap(([what, value]) =>
    value === undefined ? [] : [`- ${what}: ${codeSpan(value)}\n`],
  );
  return `# ${oneLine(name ?? `Session ${id}`)}\n\n${lines.join("")}`;
}

/** Where a turn begins: the first line of its prompt, which is shown in whole if it is longer. */
export function turnHeading(turn: number, prompt: string, timeMs: number): string {
  const time = timeOf(timeMs);
  const line = oneLine(prompt) || "(no prompt)";
  const whole = isOneLine(prompt) ? "" : `\n${quotedText(prompt)}`;
  return `\n## ${turn} · ${line}\n${time === undefined ? "" : `\n*${time}*\n`}${whole}`;
}

function isOneLine(text: string): boolean {
  return text.trim() === oneLine(text);
}

/** The usage of a turn, after it. Empty: unknown. */
export function turnEnd({ calls, errors, files, durationMs, usage }: TurnFacts): string {
  const tokens = usage.total.input + usage.total.output;
  const { cost = 0, estimated } = estimateOf(usage);
  const parts = [
    ...[...usage.byModel.values()].flatMap((models) => [...models.keys()].map(oneLine)),
    calls === 0 ? "" : plural(calls, "call"),
    errors === 0 ? "" : `${errors} failed`,
    files.length === 0 ? "" : `${plural(files.length, "file")} changed`,
    durationMs === 0 ? "" : secondsText(durationMs),
    tokens === 0 ? "" : plural(tokens, "token"),
    cost === 0 ? "" : `${estimated > 0 ? "~" : ""}$${cost.toFixed(cost < 0.01 ? 4 : 2)}`,
  ].filter((part) => part !== "");
  return parts.length === 0 ? "" : `\n*${parts.join(" · ")}*\n`;
}

function secondsText(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`;
}

function plural(count: number, noun: string): string {
  return `${count.toLocaleString("en-US")} ${noun}${count === 1 ? "" : "s"}`;
}

/**
 * A block of a conversation; empty for markers, which are not part of it.
 * @param exact The arguments of the calls of its entry, indented, where parsing changed numbers.
 */
export function itemMarkdown(item: TurnItem, exact: ExactArguments | undefined): string {
  const parts = itemParts(item, exact).filter((part) => part !== "");
  return parts.length === 0 ? "" : `\n${parts.join("\n")}`;
}

function itemParts(item: TurnItem, exact: ExactArguments | undefined): readonly string[] {
  switch (item.kind) {
    case "mark":
      return [];
    case "prompt":
      return item.text.trim() === "" ? [] : [quotedText(item.text)];
    // Text of models is Markdown; text of programs and tools can be anything.
    case "answer":
      return item.text.trim() === "" ? [] : [closedText(item.text)];
    case "thinking":
      return item.text.trim() === "" ? [] : [`*Thinking*\n\n${quotedText(item.text)}`];
    case "error":
      return item.text === "" ? [] : ["**Error**\n", fenced(item.text)];
    case "note": {
      const failed = item.isError ? " (failed)" : "";
      return [`**${oneLine(item.title)}**${failed}\n`, outputText(item.text)];
    }
    case "compaction":
      return summary("Compaction", "For the model, this stands for what came before:", item.text);
    case "branchSummary":
      return summary("Branch summary", "Summary of another branch:", item.text);
    case "image":
      return [imageMarkdown(item.image)];
    case "data":
      return [fenced(JSON.stringify(item.value ?? null, null, markdownIndent), "json")];
    case "call":
      return callMarkdown(item, exact);
  }
}

function summary(title: string, what: string, text: string): readonly string[] {
  return [`### ${title}\n`, `*${what}*\n`, text.trim() === "" ? "" : quotedText(text)];
}

function imageMarkdown({ mimeType, data }: { mimeType: string; data: string }): string {
  const bytes = Math.floor((data.length * 3) / 4);
  return `*Image: ${oneLine(mimeType)}, about ${bytes} bytes*\n`;
}

/** A call with its result. */
function callMarkdown(item: CallItem, exact: ExactArguments | undefined): readonly string[] {
  const { use, tool, result } = item;
  const name = `**${oneLine(tool)}**`;
  const ending = result === null ? "" : endingOf(result);
  const below =
    result === null ? [] : [outputText(result.text), ...result.images.map(imageMarkdown)];
  switch (use.kind) {
    case "shell":
      return [`${name}${ending}\n`, fenced(`$ ${use.command}`), ...below];
    case "edit":
    case "write": {
      const diff = fenced(use.lines.map(({ text }) => text).join("\n"), "diff");
      const change = `${codeSpan(use.path)} +${use.added} −${use.removed}`;
      return [`${name} ${change}${ending}\n`, diff, ...below];
    }
    case "read":
    case "search":
      return [`${name} ${codeSpan(useText(use))}${ending}\n`, ...below];
    case "task":
      return [`${name} ${oneLine(use.title)}${ending}\n`, quotedText(use.prompt), ...below];
    case "other":
      return [`${name}${ending}\n`, fenced(argumentsOf(item, exact), "json"), ...below];
  }
}

function endingOf({ isError, exitCode, durationMs }: CallResult): string {
  const parts = [
    exitCode === null || exitCode === 0 ? (isError ? "failed" : "") : `exit code ${exitCode}`,
    durationMs === null || durationMs === 0 ? "" : secondsText(durationMs),
  ].filter((part) => part !== "");
  return parts.map((part) => ` · ${part}`).join("");
}

function argumentsOf({ call }: CallItem, exact: ExactArguments | undefined): string {
  if (call === null) return "{}";
  // Decoding boundary: a block of a stored entry is JSON.
  const block = call.block as JsonObject;
  const shown = exact?.get(call.place) ?? keptArguments(block, markdownIndent);
  return shown ?? JSON.stringify(call.arguments ?? {}, null, markdownIndent);
}

function outputText(text: string): string {
  return text.trim() === "" ? "" : fenced(text);
}

/** To the second; undefined if absent or unreadable. */
function timeOf(ms: number): string | undefined {
  if (Number.isNaN(ms)) return undefined;
  return `${new Date(ms).toISOString().slice(0, -5).replace("T", " ")}Z`;
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
      // A fence of backticks with further backticks after it is inline code.
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
