/**
 * A hit as it is shown: looked up in its entry without secrets, and left out if it is not there.
 */
import type { Session } from "@branchlog/core";
import type { SearchHit } from "@branchlog/library";
import { entryTexts, textSearch } from "@branchlog/library/catalogs";
import type { TextSearch } from "@branchlog/library/catalogs";
import { cleanText, oneLine } from "../text/clean-text.ts";
import { branchTo, tipBelow } from "./branch-path.ts";
import type { OpenedRead } from "./session-reader.ts";

export interface FoundText {
  /** Of the branch that the entry is on. */
  readonly turn: number;
  readonly entry: string;
  /** What the text is: a message, a call, … */
  readonly kind: string;
  readonly role?: string;
  readonly tool?: string;
  readonly time: string;
  readonly snippet: string;
}

export async function shownHit(
  { kind, role, tool, timestamp, entryId }: SearchHit,
  query: string,
  { session, entry: clean, text: cleanName }: OpenedRead,
): Promise<Omit<FoundText, "turn"> | undefined> {
  const stored = await session.entry(entryId);
  const texts = stored === undefined ? [] : entryTexts(clean(stored));
  const same = texts.flatMap((one) => (one.kind === kind ? [one.text] : []));
  if (kind === "name" && session.name !== undefined) same.push(cleanName(session.name));
  const search = textSearch(query);
  const snippets = same.map((text) => snippetIn(text, search, kind === "name"));
  const snippet = snippets.find((one) => one !== undefined);
  if (snippet === undefined) return undefined;
  return {
    entry: entryId,
    kind,
    ...(role === undefined ? {} : { role }),
    ...(tool === undefined ? {} : { tool: oneLine(tool, 80) }),
    time: oneLine(timestamp, 40),
    snippet,
  };
}

/** Undefined if the text has no match. */
function snippetIn(
  text: string,
  { inText, inName }: TextSearch,
  isName: boolean,
): string | undefined {
  const found = isName ? inName(text) : inText(text);
  if (found === undefined) return undefined;
  const before = text.startsWith(found.text) ? "" : "…";
  const behind = text.endsWith(found.text) ? "" : "…";
  return `${before}${cleanText(found.text).replaceAll(/\s+/gu, " ").trim()}${behind}`;
}

export function turnsIn(session: Session): (id: string) => number {
  const tree = session.tree();
  const turns = new Map<string, number>();
  const add = (tip: string | null): void => {
    for (const { id, turn } of branchTo(tree, tip)) if (!turns.has(id)) turns.set(id, turn);
  };
  add(session.leaf);
  return (id) => {
    if (!turns.has(id)) add(tipBelow(tree, id));
    return turns.get(id) ?? 0;
  };
}
