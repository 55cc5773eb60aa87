/**
 * Where a list or a mapping in flow style that people keep gets one more: behind the last, in front
 * of the closing bracket, on a line of its own if the bracket has one. Commas at the end and
 * comments stay with what they stand behind. Pure.
 */
import { indentOf, lineEndOf, lineStart, nextLine } from "./text-places.ts";
import type { TextEdit } from "./text-places.ts";
import type { YamlList, YamlMap } from "./yaml-nodes.ts";
import type { YamlTree } from "./yaml-parser.ts";

/** Columns from a bracket to what it holds, where nothing shows them. */
const indentDefault = 2;

/**
 * Puts an item, or a pair, at the end of one that is not empty.
 * @throws BranchlogError `ERR_DOCUMENT_REFUSED` if its end is not what it should be.
 */
export function flowEdits(
  { text, refuse }: YamlTree,
  block: YamlMap | YamlList,
  item: string,
): TextEdit[] {
  const bracket = block.end - 1;
  const last = lastIn(block);
  const isClosed = text[bracket] === (block.kind === "list" ? "]" : "}");
  const comma = isClosed ? commaBehind(text, last.end, bracket) : undefined;
  if (comma === undefined) throw refuse("the end of a list in flow style is unclear", bracket);
  const line = lineStart(text, bracket);
  if (line < last.end || text.slice(line, bracket).trim() !== "") {
    // A comma that stands at the end stays there, and so does the style that ends with one.
    if (comma >= 0) return [{ start: comma + 1, end: comma + 1, text: ` ${item},` }];
    return [{ start: last.end, end: last.end, text: `, ${item}` }];
  }
  const indent = indentOf(text, last.start) ?? (indentOf(text, bracket) ?? 0) + indentDefault;
  const ending = `${comma >= 0 ? "," : ""}${lineEndOf(text)}`;
  const own = { start: line, end: line, text: `${" ".repeat(indent)}${item}${ending}` };
  return comma >= 0 ? [own] : [{ start: last.end, end: last.end, text: "," }, own];
}

/** Where the last item or pair stands. */
function lastIn(block: YamlMap | YamlList): { readonly start: number; readonly end: number } {
  const { start, end } = block;
  if (block.kind === "list") return block.items.at(-1) ?? { start, end };
  const pair = block.pairs.at(-1);
  return pair === undefined ? { start, end } : { start: pair.key.start, end: pair.value.end };
}

/** The comma in a range without items, -1 if there is none; undefined if more stands there. */
function commaBehind(text: string, from: number, to: number): number | undefined {
  let comma = -1;
  for (let at = from; at < to; at += 1) {
    const character = text[at] ?? "";
    if (character === "#") at = nextLine(text, at) - 1;
    else if (character === "," && comma < 0) comma = at;
    else if (!/\s/.test(character)) return undefined;
  }
  return comma;
}
