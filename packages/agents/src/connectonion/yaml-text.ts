/** Values as YAML in ConnectOnion's layout, the same in YAML 1.1 and 1.2. */
import { isObject } from "@branchlog/core/rows";
import type { JsonObject, JsonValue } from "@branchlog/streaming";
import { printableJson } from "./json-values.ts";

export interface Layout {
  /** Columns from a key to the dashes of its list. */
  readonly listIndent: number;
  /** Whether an empty line comes between the items of an outer list. */
  readonly isAiry: boolean;
}

/** The layout of a new document, and that of PyYAML. */
export const layouts: { readonly ideal: Layout; readonly dumped: Layout } = {
  ideal: { listIndent: 2, isAiry: true },
  dumped: { listIndent: 0, isAiry: false },
};

const sections = {
  metadata: "# ===== METADATA (compact) =====\n",
  turns: "# ===== TURNS SUMMARY (all turns visible at a glance) =====\n",
  detail: "# ===== DETAIL SECTION (scroll down) =====\n",
};

/**
 * The text of a document: all turns before all messages, so that its first lines show every turn.
 */
export function documentText(data: JsonObject): string {
  let text = sections.metadata;
  let isDetail = false;
  for (const [key, value] of Object.entries(data)) {
    const beginsDetail: boolean = (key === "system_prompt" || key === "messages") && !isDetail;
    if (key === "turns") text += `\n${sections.turns}`;
    else if (beginsDetail) text += `\n${sections.detail}`;
    else if (key === "messages") text += "\n";
    isDetail ||= beginsDetail;
    const isFilled = typeof value === "object" && value !== null && Object.keys(value).length > 0;
    if (key === "turns" && Array.isArray(value)) text += outerListText(key, value, layouts.ideal);
    else if (key === "messages" && isFilled && isObject(value)) text += allMessagesText(value);
    else text += pairText(key, value, layouts.ideal);
  }
  return text;
}

function allMessagesText(messages: JsonObject): string {
  const turns = Object.entries(messages).map(([turn, list]) => {
    const key = /^(?:0|[1-9]\d*)$/.test(turn) ? turn : lineText(turn);
    const isUsual = key === turn && Array.isArray(list);
    return isUsual
      ? outerListText(key, list, layouts.ideal)
      : pairText(turn, list, layouts.ideal, key);
  });
  return `messages:\n${indented(turns.join("\n"), 2)}`;
}

/** Items are separated by empty lines if the layout is airy. */
export function outerListText(key: string, items: readonly JsonValue[], layout: Layout): string {
  if (items.length === 0) return `${key}: []\n`;
  const shown = items.map((item) => itemText(item, layout)).join(layout.isAiry ? "\n" : "");
  return `${key}:\n${indented(shown, layout.listIndent)}`;
}

export function itemText(value: JsonValue, layout: Layout): string {
  if (Array.isArray(value) && value.length > 0) {
    return `-\n${indented(innerItemsText(value, layout), 2)}`;
  }
  const shown = valueText(value, layout);
  if (isObject(value) && shown.startsWith("\n")) return `- ${shown.slice(3)}`;
  // Readers disagree on the base of an indentation indicator in an item.
  return shown.startsWith(" |2") ? `- ${JSON.stringify(value)}\n` : `-${shown}`;
}

function innerItemsText(items: readonly JsonValue[], layout: Layout): string {
  return items.map((item) => itemText(item, layout)).join("");
}

/** Keys whose lists begin in their column in both layouts. */
const flushLists: ReadonlySet<string> = new Set(["tools_called"]);
const floatKeys: ReadonlySet<string> = new Set(["cost", "total_cost"]);
/** Longer keys need an explicit `?`. */
const plainKeyUnitsMax = 100;

function pairText(
  key: string,
  value: JsonValue,
  layout: Layout,
  shown: string = lineText(key),
): string {
  const isLong = shown.length > plainKeyUnitsMax;
  const listIndent = isLong ? 2 : flushLists.has(key) ? 0 : layout.listIndent;
  const behind = valueText(value, { ...layout, listIndent }, floatKeys.has(key));
  return isLong ? `? ${shown}\n:${behind}` : `${shown}:${behind}`;
}

function valueText(value: JsonValue, layout: Layout, isFloat: boolean = false): string {
  if (typeof value === "string") return blockText(value) ?? ` ${lineText(value)}\n`;
  if (Array.isArray(value) && value.length > 0) {
    return `\n${indented(innerItemsText(value, layout), layout.listIndent)}`;
  }
  const pairs = isObject(value) ? Object.entries(value) : [];
  if (pairs.length === 0) return ` ${flowText(value, isFloat)}\n`;
  return `\n${indented(pairs.map(([key, inner]) => pairText(key, inner, layout)).join(""), 2)}`;
}

/** A literal block; undefined where it would not be exact, or not survive edits around it. */
function blockText(text: string): string | undefined {
  const isTerminated = text.endsWith("\n");
  const lines = (isTerminated ? text.slice(0, -1) : text).split("\n");
  if (!text.includes("\n") || /^\s*$/.test(lines.at(-1) ?? "")) return undefined;
  if (!lines.every((line) => printable.test(line.replaceAll("\t", "")))) return undefined;
  // Without it, the first line's own spaces would count as indentation.
  const indicator = /^[ \t\n]/.test(text) ? "2" : "";
  const header = `|${indicator}${isTerminated ? "" : "-"}`;
  return ` ${header}\n${indented(lines.join("\n"), 2)}\n`;
}

export function indented(lines: string, columns: number): string {
  const lead = " ".repeat(columns);
  return `\n${lines}`.replaceAll(/\n(?=[^\n])/g, `\n${lead}`).slice(1);
}

/** JSON that YAML 1.1 reads the same. */
export function flowText(value: JsonValue, isFloat: boolean = false): string {
  if (typeof value === "number") return isFloat ? floatText(value) : numberText(value);
  if (Array.isArray(value)) return `[${value.map((item) => flowText(item)).join(", ")}]`;
  if (!isObject(value)) return printableJson(value);
  const pairs = Object.entries(value).map(([key, inner]) => {
    const shown = printableJson(key);
    const mark = shown.length > plainKeyUnitsMax ? "? " : "";
    return `${mark}${shown}: ${flowText(inner, floatKeys.has(key))}`;
  });
  return `{${pairs.join(", ")}}`;
}

/** Integers as such, others with a dot. */
function numberText(value: number): string {
  return Number.isSafeInteger(value) ? String(value + 0) : floatText(value);
}

function floatText(value: number): string {
  const isLong = Number.isInteger(value) && Math.abs(value) >= 1e16;
  const [mantissa = "", exponent] = (isLong ? value.toExponential() : String(value)).split("e");
  const shown = mantissa.includes(".") ? mantissa : `${mantissa}.0`;
  return exponent === undefined ? shown : `${shown}e${exponent}`;
}

/** Characters that need no escape: printable, and not a line break in any version. */
const printable =
  /^[\x20-\x7E\u00A0-\u2027\u202A-\uD7FF\uE000-\uFEFE\uFF00-\uFFFD\u{10000}-\u{10FFFF}]*$/u;
/** Words that some version reads as null, a boolean or a special number. */
const words = /^(?:~|null|true|false|yes|no|on|off|y|n|=|<<|[-+]?\.(?:inf|nan))$/i;
/** Beginnings of everything that some version reads as a number or a time. */
const numberLike = /^[-+.]?[0-9][0-9a-fA-FoOxX_.:eE+-]*(?:[Tt ][0-9: .TtZz+-]*)?$/;
/** First characters without a possible meaning. */
const safeStart = /^[^\s\-?:,[\]{}#&*!|>'"%@`.=<]/;

function lineText(text: string): string {
  if (!safeStart.test(text) || !printable.test(text) || /\s$/.test(text)) return quotedText(text);
  const hasMark = text.includes(": ") || text.endsWith(":") || text.includes(" #");
  return hasMark || words.test(text) || numberLike.test(text) ? quotedText(text) : text;
}

export function quotedText(text: string): string {
  return printable.test(text) ? `'${text.replaceAll("'", "''")}'` : printableJson(text);
}
