/** The steps of a difference: for people with signs and colours, for programs a record. Pure. */
import type { BranchDifference, ContextDifference } from "@branchlog/tools";
import type { Style } from "../style.ts";
import { oneLine } from "./clean-text.ts";
import { entryLine, messageGist } from "./entry-lines.ts";
import { messageText } from "./message-text.ts";
import { countText, isoTime } from "./quantities.ts";
import { entryRecord, recordLine } from "./records.ts";
import { fieldOf, stringOf } from "./stored-field.ts";

type Step = BranchDifference | ContextDifference;
type CommonStep = Extract<Step, { readonly kind: "common" }>;
type ChangedStep = Exclude<Step, { readonly kind: "common" }>;

export interface DiffTextOptions {
  readonly columns: number;
  readonly style: Style;
  readonly isFull: boolean;
  readonly nowMs: number | undefined;
}

/** With its newline: `2 entries in common, up to 5b2e9d02`. */
export function commonText(step: CommonStep): string {
  if (!("lastId" in step)) return `${countText(step.count, "message")} in common\n`;
  const upTo = step.lastId === null ? "" : `, up to ${oneLine(step.lastId, 60)}`;
  return `${countText(step.count, "entry", "entries")} in common${upTo}\n`;
}

export function differenceText(step: Step, options: DiffTextOptions): string {
  const { style, columns } = options;
  if (step.kind === "common") return style.faint(`  ${commonText(step)}`.trimEnd()).concat("\n");
  const sign = step.kind === "removed" ? style.bad("-") : style.good("+");
  const text =
    "entry" in step
      ? entryLine(step.entry, { ...options, columns: columns - 2 })
      : messageText(step.message, options);
  return text.replaceAll(/^(?=.)/gm, `${sign} `);
}

/** `- or +, id, time, type, role, text`; a message of a context has no id. */
export function differenceRecord(step: ChangedStep): string {
  const sign = step.kind === "removed" ? "-" : "+";
  if ("entry" in step) return `${sign}\t${entryRecord(step.entry)}`;
  const { message } = step;
  const time = fieldOf(message, "timestamp");
  const shown = typeof time === "number" ? isoTime(time) : undefined;
  const text = stringOf(message, "summary") ?? messageGist(message, Infinity).text;
  return recordLine([sign, "", shown, "message", stringOf(message, "role"), text]);
}
