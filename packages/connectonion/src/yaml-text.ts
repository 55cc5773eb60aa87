/**
 * Values as YAML in the layout of ConnectOnion's documents. What YAML 1.1 or 1.2 would read as
 * something else is quoted, and several lines become a block where that is exact, so that every
 * reader takes it for the same value. Block style is whole lines, each with its newline. Pure.
 */
import type { JsonObject, JsonValue } from "@branchlog/streaming";
import { isObject, printableJson } from "./json-values.ts";

/** How lists are laid out. */
export interface Layout {
  /** Columns from a key to the dashes of its list. */
  readonly listIndent: number;
  /** Whether an empty line comes between the items of an outer list. */
  readonly isAiry: boolean;
}

/** The layout of a new document, and the one that PyYAML writes. */
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
 * The text of a document that says this, keys in their order, in the form of the format: three
 * sections, all turns before all messages, so that the first lines of the file show every turn.
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

/** The messages by turn, an empty line between the turns. Numbers are keys of numbers. */
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

/** A key, as it is written, and a list, an empty line between its items if the layout is airy. */
export function outerListText(key: string, items: readonly JsonValue[], layout: Layout): string {
  if (items.length === 0) return `${key}: []\n`;
  const shown = items.map((item) => itemText(item, layout)).join(layout.isAiry ? "\n" : "");
  return `${key}:\n${indented(shown, layout.listIndent)}`;
}

/** `- value`, with everything nested in it. */
export function itemText(value: JsonValue, layout: Layout): string {
  if (Array.isArray(value) && value.length > 0) {
    return `-\n${indented(innerItemsText(value, layout), 2)}`;
  }
  const shown = valueText(value, layout);
  if (isObject(value) && shown.startsWith("\n")) return `- ${shown.slice(3)}`;
  // Readers disagree on what an indicator in an item counts from.
  return shown.startsWith(" |2") ? `- ${JSON.stringify(value)}\n` : `-${shown}`;
}

function innerItemsText(items: readonly JsonValue[], layout: Layout): string {
  return items.map((item) => itemText(item, layout)).join("");
}

/** Keys whose lists begin in their column in either layout. */
const flushLists: ReadonlySet<string> = new Set(["tools_called"]);
/** Keys whose numbers are floats, also whole ones. */
const floatKeys: ReadonlySet<string> = new Set(["cost", "total_cost"]);
/** Longer keys are not found again without a mark of their own. */
const plainKeyUnitsMax = 100;

/** `key: value`, with everything nested in it. */
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

/** What follows `key:` or `-`, up to the end of the last line of it. */
function valueText(value: JsonValue, layout: Layout, isFloat: boolean = false): string {
  if (typeof value === "string") return blockText(value) ?? ` ${lineText(value)}\n`;
  if (Array.isArray(value) && value.length > 0) {
    return `\n${indented(innerItemsText(value, layout), layout.listIndent)}`;
  }
  const pairs = isObject(value) ? Object.entries(value) : [];
  if (pairs.length === 0) return ` ${flowText(value, isFloat)}\n`;
  return `\n${indented(pairs.map(([key, inner]) => pairText(key, inner, layout)).join(""), 2)}`;
}

/**
 * A string of several lines as a literal block; undefined where a block would not be exact, or not
 * stay so when the text around it is edited.
 */
function blockText(text: string): string | undefined {
  const isTerminated = text.endsWith("\n");
  const lines = (isTerminated ? text.slice(0, -1) : text).split("\n");
  if (!text.includes("\n") || /^\s*$/.test(lines.at(-1) ?? "")) return undefined;
  if (!lines.every((line) => printable.test(line.replaceAll("\t", "")))) return undefined;
  // Without it the first line's own spaces would be taken for the indentation of all.
  const indicator = /^[ \t\n]/.test(text) ? "2" : "";
  const header = `|${indicator}${isTerminated ? "" : "-"}`;
  return ` ${header}\n${indented(lines.join("\n"), 2)}\n`;
}

/** Lines moved to the right, but for those that are empty. */
export function indented(lines: string, columns: number): string {
  const lead = " ".repeat(columns);
  return `\n${lines}`.replaceAll(/\n(?=[^\n])/g, `\n${lead}`).slice(1);
}

/** The value in flow style on one line: JSON that YAML 1.1 takes for the same. */
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

/** A finite number such that Python reads the same one: an integer as one, others with a dot. */
function numberText(value: number): string {
  return Number.isSafeInteger(value) ? String(value + 0) : floatText(value);
}

function floatText(value: number): string {
  const isLong = Number.isInteger(value) && Math.abs(value) >= 1e16;
  const [mantissa = "", exponent] = (isLong ? value.toExponential() : String(value)).split("e");
  const shown = mantissa.includes(".") ? mantissa : `${mantissa}.0`;
  return exponent === undefined ? shown : `${shown}e${exponent}`;
}

/** Characters that need no escape: printable, and no line break to any version of it. */
const printable =
  /^[\x20-\x7E\u00A0-\u2027\u202A-\uD7FF\uE000-\uFEFE\uFF00-\uFFFD\u{10000}-\u{10FFFF}]*$/u;
/** Words that some version of YAML reads as null, a boolean or a special number. */
const words = /^(?:~|null|true|false|yes|no|on|off|y|n|=|<<|[-+]?\.(?:inf|nan))$/i;
/** The beginnings of everything that some version reads as a number or a time. */
const numberLike = /^[-+.]?[0-9][0-9a-fA-FoOxX_.:eE+-]*(?:[Tt ][0-9: .TtZz+-]*)?$/;
/** First characters that have a meaning, or might have one. */
const safeStart = /^[^\s\-?:,[\]{}#&*!|>'"%@`.=<]/;

/** A string on one line: plain where that is safe, else in quotes. */
function lineText(text: string): string {
  if (!safeStart.test(text) || !printable.test(text) || /\s$/.test(text)) return quotedText(text);
  const hasMark = text.includes(": ") || text.endsWith(":") || text.includes(" #");
  return hasMark || words.test(text) || numberLike.test(text) ? quotedText(text) : text;
}

/** A string on one line, in quotes. */
export function quotedText(text: string): string {
  return printable.test(text) ? `'${text.replaceAll("'", "''")}'` : printableJson(text);
}
