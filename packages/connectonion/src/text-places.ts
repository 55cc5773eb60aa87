/**
 * Where in a hand-kept YAML text something can be put in: behind the last line of a node, comments
 * that belong to it included. Pure; offsets are those of the text.
 */
import type { YamlNode } from "./yaml-nodes.ts";

/** A change of a text: what stands at `[start, end)` becomes `text`. */
export interface TextEdit {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

/** The text with all edits made; they must not overlap. */
export function withEdits(text: string, edits: readonly TextEdit[]): string {
  const ordered = [...edits].sort((one, other) => one.start - other.start);
  let result = "";
  let at = 0;
  for (const edit of ordered) {
    result += text.slice(at, edit.start) + edit.text;
    at = edit.end;
  }
  return result + text.slice(at);
}

/** Where the line that holds an offset begins. */
export function lineStart(text: string, offset: number): number {
  return offset === 0 ? 0 : text.lastIndexOf("\n", offset - 1) + 1;
}

/** Where the line after the one that holds an offset begins; the end of the text for the last. */
export function nextLine(text: string, offset: number): number {
  const newline = text.indexOf("\n", offset);
  return newline < 0 ? text.length : newline + 1;
}

/** The column of an offset, if there are only spaces before it in its line; else undefined. */
export function indentOf(text: string, offset: number): number | undefined {
  const before = text.slice(lineStart(text, offset), offset).replace(/^\uFEFF/, "");
  return /^ *$/.test(before) ? before.length : undefined;
}

/** The last node inside a block of lists and mappings: the one that it ends with. */
function lastNodeOf(node: YamlNode): YamlNode {
  let at = node;
  for (;;) {
    if (at.kind === "list" && !at.isFlow) {
      const last = at.items.at(-1);
      if (last === undefined) return at;
      at = last;
    } else if (at.kind === "map" && !at.isFlow) {
      const last = at.pairs.at(-1);
      if (last === undefined) return at;
      const isEmpty = last.value.start === last.value.end;
      if (isEmpty) return last.key;
      at = last.value;
    } else return at;
  }
}

/**
 * Where the line after a node begins. Comments behind it that are indented by more than `column`
 * belong to it, and what follows them comes after.
 */
export function placeAfter(text: string, node: YamlNode, column: number): number {
  const last = lastNodeOf(node);
  const isBlock = last.kind === "scalar" && last.style === "block";
  const isAtLine = isBlock && (last.end === 0 || text[last.end - 1] === "\n");
  return afterComments(text, isAtLine ? last.end : nextLine(text, last.end), column);
}

/** The line after the comments that begin at a line and are indented by more than `column`. */
export function afterComments(text: string, from: number, column: number): number {
  let place = from;
  for (let at = from; at < text.length; at = nextLine(text, at)) {
    const line = text.slice(at, nextLine(text, at));
    const indent = /^ */.exec(line)?.[0].length ?? 0;
    const rest = line.slice(indent).trimEnd();
    if (rest === "") continue;
    if (!rest.startsWith("#") || indent <= column) break;
    place = nextLine(text, at);
  }
  return place;
}

/** Whether an empty line stands before the line of an offset, or before the comments above it. */
export function isAfterEmptyLine(text: string, offset: number): boolean {
  for (let at = lineStart(text, offset); at > 0; at = lineStart(text, at - 1)) {
    const line = text.slice(lineStart(text, at - 1), at).trim();
    if (line === "") return true;
    if (!line.startsWith("#")) return false;
  }
  return false;
}

/** The line end that a text uses. */
export function lineEndOf(text: string): "\n" | "\r\n" {
  const newline = text.indexOf("\n");
  return newline > 0 && text[newline - 1] === "\r" ? "\r\n" : "\n";
}
