/**
 * Gives the line of an entry other links, as a copy of a branch needs them, by changing only the
 * bytes of those links: everything else, number forms and unknown fields with it, is the source's.
 * Pure.
 */
import { applyEdits, setMembers } from "./member-edits.ts";
import type { NewValue } from "./member-edits.ts";
import { locateMembers } from "./object-members.ts";

/** The links to change; those that are absent stay. */
export interface NewLinks {
  readonly parentId?: string | null;
  readonly firstKeptEntryId?: string;
  readonly providerReplayThroughEntryId?: string;
}

const linkKeys = ["parentId", "firstKeptEntryId", "providerReplayThroughEntryId"] as const;

/** Whether there is nothing to change. */
export function isEmptyLinks(links: NewLinks): boolean {
  return linkKeys.every((key) => links[key] === undefined);
}

/**
 * The line with these links: replaced in their places, or added as the last members.
 *
 * @param line A record in the current form, with or without its line ending, which is kept; it is
 * trusted to be JSON. A line that holds no object comes back as it is.
 * @returns The same buffer if no link is to change.
 */
export function relinkLine(line: Buffer, links: NewLinks): Buffer {
  const values: NewValue[] = [];
  for (const key of linkKeys) {
    const link = links[key];
    if (link !== undefined) values.push([key, JSON.stringify(link)]);
  }
  if (values.length === 0) return line;
  const object = locateMembers(line, 0, line.length);
  return object === null ? line : applyEdits(line, setMembers(object, values));
}
