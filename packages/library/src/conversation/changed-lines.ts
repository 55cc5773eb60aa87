/** The lines that an edit changes, from its old and new text or from a patch. Pure. */
import type { ChangedLine } from "./shown-conversation.ts";

/** Unchanged lines around a change. */
const nearbyMax = 2;

/** One change: what both texts begin and end with is left out, but for some lines nearby. */
export function changedLines(before: string, after: string): readonly ChangedLine[] {
  const [old, fresh] = [linesOf(before), linesOf(after)];
  let start = 0;
  while (start < old.length && start < fresh.length && old[start] === fresh[start]) start += 1;
  let end = 0;
  const endMax = Math.min(old.length, fresh.length) - start;
  while (end < endMax && old.at(-1 - end) === fresh.at(-1 - end)) end += 1;
  return [
    ...signed("same", old.slice(Math.max(0, start - nearbyMax), start)),
    ...signed("removed", old.slice(start, old.length - end)),
    ...signed("added", fresh.slice(start, fresh.length - end)),
    ...signed("same", old.slice(old.length - end, old.length - end + Math.min(end, nearbyMax))),
  ];
}

export function writtenLines(content: string): readonly ChangedLine[] {
  return signed("added", linesOf(content));
}

/** Of a patch as Codex writes it; undefined for any other text. */
export function patchedFiles(
  text: string,
): { readonly path: string; readonly lines: readonly ChangedLine[] } | undefined {
  if (!text.startsWith("*** Begin Patch")) return undefined;
  const paths: string[] = [];
  const lines: ChangedLine[] = [];
  for (const line of text.split("\n").slice(1)) {
    const path = /^\*\*\* (?:Update|Add|Delete) File: (.*)$/.exec(line)?.[1];
    if (path !== undefined) paths.push(path);
    const isEnd = line.startsWith("*** End") || line === "";
    if (!isEnd) lines.push({ kind: patchKind(line), text: line });
  }
  return { path: paths.join(", "), lines };
}

function patchKind(line: string): ChangedLine["kind"] {
  if (/^(?:@@|\*\*\*)/.test(line)) return "place";
  if (line.startsWith("+")) return "added";
  return line.startsWith("-") ? "removed" : "same";
}

const signs = { added: "+", removed: "-", same: " " } as const;

function signed(kind: keyof typeof signs, lines: readonly string[]): ChangedLine[] {
  return lines.map((line) => ({ kind, text: `${signs[kind]} ${line}` }));
}

/** A last newline ends the last line. */
function linesOf(text: string): readonly string[] {
  if (text === "") return [];
  const lines = text.split("\n");
  return lines.at(-1) === "" ? lines.slice(0, -1) : lines;
}
