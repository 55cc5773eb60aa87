/**
 * Messages of a context as text: role, content, tool calls. Long parts are shortened unless `full`.
 * Pure, total.
 */
import { messageParts } from "@branchlog/core/entries";
import type { EntryPart, ShellPart, Speaker } from "@branchlog/core/entries";
import type { Style } from "../style.ts";
import { cleanText, oneLine, startOf } from "./clean-text.ts";
import type { TextLimits } from "./clean-text.ts";
import { paintOf } from "./entry-lines.ts";
import { numberText, sizeText, whenText } from "./quantities.ts";
import { fieldOf, jsonStart } from "./stored-field.ts";

export interface MessageTextOptions {
  readonly style: Style;
  readonly isFull: boolean;
  /** On a terminal: times are shown as ages. */
  readonly nowMs?: number | undefined;
}

const speech: TextLimits = { linesMax: 12, unitsMax: 1_200 };
const output: TextLimits = { linesMax: 6, unitsMax: 600 };
const thought: TextLimits = { linesMax: 2, unitsMax: 240 };
const argumentsUnitsMax = 160;

export function messageText(message: unknown, options: MessageTextOptions): string {
  const { style } = options;
  const said = messageParts(message);
  const { kind, detail } = headingOf(said.speaker);
  const time = fieldOf(message, "timestamp");
  const stamp =
    typeof time === "number" ? style.faint(`  ${whenText(time, options.nowMs).trimEnd()}`) : "";
  const limits = outputRoles.has(said.speaker.role ?? "") ? output : speech;
  const parts = said.parts.flatMap((part) => partTexts(part, limits, options));
  const shown = parts.flatMap((part) => (part === "" ? [] : [`${indented(part)}\n`]));
  return `${paintOf(kind, style)(kind)}${detail}${stamp}\n${shown.join("")}`;
}

const outputRoles: ReadonlySet<string> = new Set(["toolResult", "system"]);

interface Heading {
  readonly kind: string;
  readonly detail: string;
}

function headingOf({ role = "unknown", model, tool, customType, isError }: Speaker): Heading {
  const named = (kind: string, name: string | undefined): Heading => ({
    kind,
    detail: name === undefined ? "" : ` ${oneLine(name, 60)}`,
  });
  switch (role) {
    case "assistant":
      return named(role, model);
    case "toolResult":
      return named("tool result", `${tool ?? ""}${isError ? " (failed)" : ""}`);
    case "bashExecution":
      return named("shell", undefined);
    case "custom":
      return named("extension", customType);
    case "branchSummary":
      return named("branch summary", undefined);
    case "compactionSummary":
      return named("compaction", undefined);
    default:
      return named(oneLine(role, 40), undefined);
  }
}

/** Some may be empty. */
function partTexts(part: EntryPart, limits: TextLimits, options: MessageTextOptions): string[] {
  const { style, isFull } = options;
  switch (part.kind) {
    case "text":
      return [limited(part.text, limits, options)];
    case "summary":
    case "name":
    case "label":
      return [limited(part.text, speech, options)];
    case "error":
      return [style.bad(limited(part.text, output, options))];
    case "thinking": {
      const text = limited(part.text, thought, options);
      return [text === "" ? "" : style.faint(`thinking: ${text}`)];
    }
    case "shell":
      return shellTexts(part, options);
    case "call": {
      const { tool = "?", arguments: given = {} } = part;
      const shown = isFull
        ? cleanText(JSON.stringify(given, null, 2))
        : oneLine(jsonStart(given, argumentsUnitsMax * 5), argumentsUnitsMax);
      return [`${style.tool(`→ ${oneLine(tool, 60)}`)} ${shown}`];
    }
    case "image": {
      const bytes = (part.data.length * 3) / 4;
      return [style.faint(`(image ${part.mimeType}, ${sizeText(bytes)})`)];
    }
    case "data":
      return [style.faint(oneLine(jsonStart(part.value, argumentsUnitsMax), argumentsUnitsMax))];
  }
}

function shellTexts(
  { command, output: printed, exitCode = 0 }: ShellPart,
  options: MessageTextOptions,
): string[] {
  const ending = exitCode === 0 ? "" : options.style.bad(`exit code ${exitCode}`);
  return [`$ ${limited(command, speech, options)}`, limited(printed, output, options), ending];
}

function limited(text: string, limits: TextLimits, options: MessageTextOptions): string {
  if (options.isFull) return cleanText(text.trimEnd());
  const start = startOf(text, limits);
  return start.rest === "" ? start.text : `${start.text}${options.style.faint(` … ${start.rest}`)}`;
}

function indented(text: string): string {
  return text.replaceAll(/^(?=.)/gm, "  ");
}

export function contextHeading(
  context: {
    readonly model: { readonly provider: string; readonly modelId: string } | null;
    readonly thinkingLevel: string;
    readonly truncatedAt?: string;
    readonly approximate?: true;
  },
  counts: { readonly messages: number; readonly shown: number },
  style: Style,
): string {
  const { model, thinkingLevel, truncatedAt, approximate } = context;
  const name = model === null ? "no model" : oneLine(`${model.provider}/${model.modelId}`, 80);
  const { messages, shown } = counts;
  const part = shown < messages ? `, the last ${numberText(shown)} shown` : "";
  const count = `${numberText(messages)} ${messages === 1 ? "message" : "messages"}${part}`;
  const exactness = approximate === true ? " · approximate" : "";
  const thinking = `thinking ${oneLine(thinkingLevel, 40)}`;
  const heading = `${style.heading(name)} · ${thinking} · ${count}${exactness}\n`;
  if (truncatedAt === undefined) return heading;
  const warning = `The path is incomplete: the log has no entry ${oneLine(truncatedAt, 60)}.`;
  return `${heading}${style.warning(warning)}\n`;
}
