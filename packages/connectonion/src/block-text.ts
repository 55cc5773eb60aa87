/**
 * Values as YAML in block style, in the layout of ConnectOnion's documents. Every piece is whole
 * lines, each with its newline. Pure; what is written is read back as the same value.
 */
import type { JsonObject, JsonValue } from "@branchlog/streaming";
import { blockLines, floatKeys, floatText, lineText, numberText } from "./scalar-text.ts";

/** How lists are laid out. */
export interface Layout {
  /** Columns from a key to the dashes of its list. */
  readonly listIndent: number;
  /** Whether an empty line stands between the items of long lists. */
  readonly isAiry: boolean;
}

/** The layout of a new document, and the one that PyYAML writes. */
export const layouts: { readonly ideal: Layout; readonly dumped: Layout } = {
  ideal: { listIndent: 2, isAiry: true },
  dumped: { listIndent: 0, isAiry: false },
};

/** Keys whose lists stand right below them in either layout. */
const flushLists: ReadonlySet<string> = new Set(["tools_called"]);
/** Longer keys are not found again without a mark of their own. */
const plainKeyUnitsMax = 100;

/**
 * `key: value`, with all that hangs from it.
 * @param isNumber Whether the key is a number, and not the text of one.
 */
export function pairText(
  key: string,
  value: JsonValue,
  column: number,
  layout: Layout,
  isNumber: boolean = false,
): string {
  const text = isNumber ? key : lineText(key);
  const lead = " ".repeat(column);
  const isLong = text.length > plainKeyUnitsMax;
  const listIndent = isLong ? 2 : flushLists.has(key) ? 0 : layout.listIndent;
  const shown = valueText(value, column, { ...layout, listIndent }, floatKeys.has(key));
  return isLong ? `${lead}? ${text}\n${lead}:${shown}` : `${lead}${text}:${shown}`;
}

/** The pairs of an object. */
function pairsText(object: JsonObject, column: number, layout: Layout): string {
  const pairs = Object.entries(object);
  return pairs.map(([key, value]) => pairText(key, value, column, layout)).join("");
}

/** `- value`, with all that hangs from it. */
export function itemText(value: JsonValue, column: number, layout: Layout): string {
  const lead = " ".repeat(column);
  if (isFilledObject(value)) {
    const inner = pairsText(value, column + 2, layout);
    return `${lead}- ${inner.slice(column + 2)}`;
  }
  if (Array.isArray(value) && value.length > 0) {
    return `${lead}-\n${itemsText(value, column + 2, { ...layout, isAiry: false })}`;
  }
  const isIndented = typeof value === "string" && blockLines(value)?.[0]?.includes("2") === true;
  // Readers disagree on what an indicator in an item counts from.
  const shown = isIndented ? ` ${JSON.stringify(value)}\n` : valueText(value, column, layout);
  return `${lead}-${shown}`;
}

/** The items of a list, with an empty line between them if the layout is airy and they are long. */
export function itemsText(items: readonly JsonValue[], column: number, layout: Layout): string {
  return items.map((item) => itemText(item, column, layout)).join(layout.isAiry ? "\n" : "");
}

/** What stands behind `key:` or `-`, up to the end of the last line of it. */
function valueText(
  value: JsonValue,
  column: number,
  layout: Layout,
  isFloat: boolean = false,
): string {
  if (typeof value === "string") return stringText(value, column);
  if (typeof value === "number") return ` ${isFloat ? floatText(value) : numberText(value)}\n`;
  if (value === null || typeof value === "boolean") return ` ${String(value)}\n`;
  if (Array.isArray(value)) {
    if (value.length === 0) return " []\n";
    const compact = { ...layout, isAiry: false };
    return `\n${itemsText(value, column + layout.listIndent, compact)}`;
  }
  return isFilledObject(value) ? `\n${pairsText(value, column + 2, layout)}` : " {}\n";
}

function stringText(text: string, column: number): string {
  const block = blockLines(text);
  if (block === undefined) return ` ${lineText(text)}\n`;
  const [header = "", ...lines] = block;
  const lead = " ".repeat(column + 2);
  const shown = lines.map((line) => (line === "" ? "\n" : `${lead}${line}\n`));
  return ` ${header}\n${shown.join("")}`;
}

function isFilledObject(value: JsonValue): value is JsonObject {
  const isObject = typeof value === "object" && value !== null && !Array.isArray(value);
  return isObject && Object.keys(value).length > 0;
}
