/**
 * A hit as it is shown: looked up in its entry without secrets, and left out if it is not there.
 */
import type { Session } from "@branchlog/core";
import type { SearchHit } from "@branchlog/library";
import { entryTexts } from "@branchlog/library/catalogs";
import { cleanText, cutAt, oneLine } from "../text/clean-text.ts";
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

const unitsBefore = 100;
const unitsAfter = 200;

export async function shownHit(
  { kind, role, tool, timestamp, entryId }: SearchHit,
  query: string,
  { session, entry: clean, text: cleanName }: OpenedRead,
): Promise<Omit<FoundText, "turn"> | undefined> {
  const stored = await session.entry(entryId);
  const texts = stored === undefined ? [] : entryTexts(clean(stored));
  const same = texts.flatMap((one) => (one.kind === kind ? [one.text] : []));
  if (kind === "name" && session.name !== undefined) same.push(cleanName(session.name));
  const snippets = same.map((text) => snippetIn(text, query, kind === "name"));
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
function snippetIn(text: string, query: string, isName: boolean): string | undefined {
  const wanted = query.trim().toLowerCase();
  const at = text.toLowerCase().indexOf(wanted);
  if (at < 0) return isName && hasLetters(text.toLowerCase(), wanted) ? shownName(text) : undefined;
  const start = Math.max(0, at - unitsBefore);
  const end = at + wanted.length + unitsAfter;
  const part = cutAt(text.slice(start), end - start);
  const [before, behind] = [start > 0 ? "…" : "", end < text.length ? "…" : ""];
  return `${before}${cleanText(part).replaceAll(/\s+/gu, " ").trim()}${behind}`;
}

/** In names, a query may leave characters out. */
function hasLetters(name: string, wanted: string): boolean {
  let at = 0;
  for (const letter of wanted.replaceAll(/\s+/gu, "")) {
    at = name.indexOf(letter, at) + 1;
    if (at === 0) return false;
  }
  return true;
}

function shownName(name: string): string {
  return oneLine(name, unitsBefore + unitsAfter);
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
