/**
 * The text of an entry or a message for a model: prompts and answers whole, calls and
 * results of tools shortened unless `isFull`. Pure, total.
 */
import { entryParts, messageParts } from "@branchlog/core/entries";
import type { EntryPart, SaidParts, Speaker } from "@branchlog/core/entries";
import type { SessionEntry } from "@branchlog/core";
import { cleanText, cutAt, oneLine } from "../text/clean-text.ts";
import { numberText } from "../text/quantities.ts";

export interface SaidOptions {
  readonly isFull: boolean;
  /** Where the full form of a shortened text is; undefined: in no single entry. */
  readonly entryId: string | undefined;
}

const resultUnitsMax = 600;
const argumentsUnitsMax = 300;

/** Empty for an entry without text, such as a change of settings. */
export function entrySaid(entry: SessionEntry, isFull: boolean): string {
  const said = entryParts(entry);
  return said === undefined ? "" : saidText(said, { isFull, entryId: entry.id });
}

export function messageSaid(message: unknown, isFull: boolean): string {
  return saidText(messageParts(message), { isFull, entryId: undefined });
}

function saidText({ speaker, parts }: SaidParts, options: SaidOptions): string {
  const texts = parts.flatMap((part) => partTexts(part, speaker, options));
  const shown = texts.filter((text) => text.trim() !== "");
  return shown.length === 0 ? "" : `${shown.join("\n")}\n`;
}

function partTexts(part: EntryPart, speaker: Speaker, options: SaidOptions): string[] {
  switch (part.kind) {
    case "text": {
      const isResult = speaker.role === "toolResult";
      const text = isResult ? shortened(part.text, resultUnitsMax, options) : cleanText(part.text);
      return [text.trim() === "" ? "" : `${headOf(speaker)}: ${text.trimEnd()}`];
    }
    case "summary":
    case "name":
    case "label":
      return [`${headOf(speaker)}: ${cleanText(part.text).trimEnd()}`];
    case "error":
      return [`error: ${shortened(part.text, resultUnitsMax, options)}`];
    case "thinking":
      return options.isFull && part.text.trim() !== ""
        ? [`thinking: ${cleanText(part.text).trimEnd()}`]
        : [];
    case "call": {
      const given = JSON.stringify(part.arguments ?? {}, null, options.isFull ? 1 : 0);
      return [`→ ${oneLine(part.tool ?? "?", 80)} ${shortened(given, argumentsUnitsMax, options)}`];
    }
    case "shell": {
      const { command, output, exitCode = 0 } = part;
      const ending = exitCode === 0 ? "" : `exit code ${exitCode}`;
      return [`$ ${cleanText(command)}`, shortened(output, resultUnitsMax, options), ending];
    }
    case "image":
      return [`(image ${oneLine(part.mimeType, 40)})`];
    case "data":
      return [shortened(JSON.stringify(part.value) ?? "", argumentsUnitsMax, options)];
  }
}

function headOf({ role = "unknown", tool, customType, isError }: Speaker): string {
  switch (role) {
    case "toolResult":
      return `← ${oneLine(tool ?? "tool", 80)}${isError ? " (failed)" : ""}`;
    case "custom":
      return `extension ${oneLine(customType ?? "", 60)}`.trimEnd();
    case "branchSummary":
      return "summary of another branch";
    case "compactionSummary":
      return "summary of what came before";
    case "name":
      return "session named";
    default:
      return oneLine(role, 40);
  }
}

function shortened(text: string, unitsMax: number, { isFull, entryId }: SaidOptions): string {
  const whole = text.trimEnd();
  // A marker would be as long as the text.
  if (isFull || whole.length <= unitsMax * 1.2) return cleanText(whole);
  const shown = cutAt(whole, unitsMax);
  const count = numberText(whole.length - shown.length);
  const where = entryId === undefined ? "" : `from=${oneLine(entryId, 80)} `;
  return `${cleanText(shown)} … [${count} more characters: ${where}full=true]`;
}
