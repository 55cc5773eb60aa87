/** The title of a session, and its subtitle. Pure. */
import type { SessionItem } from "../../api.ts";

type Titled = Pick<SessionItem, "name" | "firstPrompt" | "firstMessage" | "id">;

/** Its name, else the first line of its first prompt, else of its first message, else its id. */
export function titleOf(item: Titled): string {
  const { name, firstPrompt, firstMessage, id } = item;
  return name ?? firstLineOf(firstPrompt ?? firstMessage ?? "") ?? id;
}

/** What the title leaves out of the first prompt; empty: nothing. */
export function promptBelow({ name, firstPrompt, firstMessage }: Titled): string {
  const said = (firstPrompt ?? firstMessage ?? "").trim();
  if (name !== null) return oneLine(said);
  const end = said.indexOf("\n");
  return end < 0 ? "" : oneLine(said.slice(end));
}

function firstLineOf(text: string): string | undefined {
  return text.trim().split("\n", 1)[0]?.trim() || undefined;
}

function oneLine(text: string): string {
  return text.replaceAll(/\s+/g, " ").trim();
}
