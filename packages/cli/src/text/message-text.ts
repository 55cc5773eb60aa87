/**
 * Messages of a context as text: role, content, tool calls. Long parts are shortened unless `full`.
 * Pure, total.
 */
import type { Style } from "../style.ts";
import { cleanText, oneLine, startOf } from "./clean-text.ts";
import type { TextLimits } from "./clean-text.ts";
import { paintOf } from "./entry-lines.ts";
import { numberText, sizeText, whenText } from "./quantities.ts";
import { blocksOf, fieldOf, jsonStart, stringOf } from "./stored-field.ts";

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
  const { kind, detail } = speakerOf(message);
  const time = fieldOf(message, "timestamp");
  const stamp =
    typeof time === "number" ? style.faint(`  ${whenText(time, options.nowMs).trimEnd()}`) : "";
  const parts = partsOf(message, options).map((part) => `${indented(part)}\n`);
  return `${paintOf(kind, style)(kind)}${detail}${stamp}\n${parts.join("")}`;
}

interface Speaker {
  readonly kind: string;
  readonly detail: string;
}

function speakerOf(message: unknown): Speaker {
  const role = stringOf(message, "role") ?? "unknown";
  const named = (kind: string, name: string | undefined): Speaker => ({
    kind,
    detail: name === undefined ? "" : ` ${oneLine(name, 60)}`,
  });
  switch (role) {
    case "assistant":
      return named(role, stringOf(message, "model"));
    case "toolResult": {
      const failed = fieldOf(message, "isError") === true ? " (failed)" : "";
      return named("tool result", `${stringOf(message, "toolName") ?? ""}${failed}`);
    }
    case "bashExecution":
      return named("shell", undefined);
    case "custom":
      return named("extension", stringOf(message, "customType"));
    case "branchSummary":
      return named("branch summary", undefined);
    case "compactionSummary":
      return named("compaction", undefined);
    default:
      return named(oneLine(role, 40), undefined);
  }
}

function partsOf(message: unknown, options: MessageTextOptions): string[] {
  const role = stringOf(message, "role");
  const summary = stringOf(message, "summary");
  if (summary !== undefined) return [limited(summary, speech, options)];
  if (role === "bashExecution") return shellParts(message, options);
  const limits = role === "toolResult" || role === "system" ? output : speech;
  const parts = blocksOf(message).map((block) => blockText(block, limits, options));
  const error = stringOf(message, "errorMessage");
  if (error !== undefined) parts.push(options.style.bad(limited(error, output, options)));
  return parts.filter((part) => part !== "");
}

function shellParts(message: unknown, options: MessageTextOptions): string[] {
  const command = `$ ${limited(stringOf(message, "command") ?? "", speech, options)}`;
  const result = limited(stringOf(message, "output") ?? "", output, options);
  const exitCode = fieldOf(message, "exitCode");
  const failed = typeof exitCode === "number" && exitCode !== 0;
  const ending = failed ? options.style.bad(`exit code ${exitCode}`) : "";
  return [command, result, ending].filter((part) => part !== "");
}

function blockText(block: unknown, limits: TextLimits, options: MessageTextOptions): string {
  const { style, isFull } = options;
  switch (stringOf(block, "type")) {
    case "text":
      return limited(stringOf(block, "text") ?? "", limits, options);
    case "thinking": {
      const text = limited(stringOf(block, "thinking") ?? "", thought, options);
      return text === "" ? "" : style.faint(`thinking: ${text}`);
    }
    case "toolCall": {
      const name = oneLine(stringOf(block, "name") ?? "?", 60);
      const given = fieldOf(block, "arguments") ?? {};
      const shown = isFull
        ? cleanText(JSON.stringify(given, null, 2))
        : oneLine(jsonStart(given, argumentsUnitsMax * 5), argumentsUnitsMax);
      return `${style.tool(`→ ${name}`)} ${shown}`;
    }
    case "image": {
      const bytes = ((stringOf(block, "data") ?? "").length * 3) / 4;
      return style.faint(`(image ${stringOf(block, "mimeType") ?? ""}, ${sizeText(bytes)})`);
    }
    default:
      return style.faint(oneLine(jsonStart(block, argumentsUnitsMax), argumentsUnitsMax));
  }
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
  const warning = `The path breaks off: the log holds no entry ${oneLine(truncatedAt, 60)}.`;
  return `${heading}${style.warning(warning)}\n`;
}
