/** The entry of an open session for an argument. */
import { BranchlogError } from "@branchlog/core";
import type { Session } from "@branchlog/core";
import type { CommandIo } from "./command-io.ts";
import { findEntry } from "./entry-address.ts";
import type { AddressedEntries, FoundEntry } from "./entry-address.ts";
import { openForReading } from "./opened-session.ts";

const listedMax = 5;

/**
 * Its id.
 * @throws BranchlogError `ERR_ENTRY_NOT_FOUND`; with `candidates` if the argument is ambiguous.
 */
export function entryId(word: string, session: Session): string {
  const found = foundEntry(word, session);
  if (found.kind === "entry") return found.id;
  const { path } = session;
  if (found.kind === "none") {
    const message = `There is no entry ${word} in ${path} (${found.reason}); nothing was done.`;
    throw new BranchlogError("ERR_ENTRY_NOT_FOUND", message, { path, id: word });
  }
  const { ids } = found;
  const more = ids.length > listedMax ? ` and ${ids.length - listedMax} more` : "";
  const message =
    `${word} matches ${ids.length} entries of ${path}: ` +
    `${ids.slice(0, listedMax).join(", ")}${more}. Give more characters of the id.`;
  throw new BranchlogError("ERR_ENTRY_NOT_FOUND", message, { path, id: word, candidates: ids });
}

export function foundEntry(word: string, session: Session): FoundEntry {
  return findEntry(word, addressed(session));
}

/** For a command that opens the session itself; undefined for undefined. Throws as `entryId`. */
export async function entryIdIn(
  path: string,
  word: string | undefined,
  io: CommandIo,
): Promise<string | undefined> {
  if (word === undefined) return undefined;
  const { session } = await openForReading(path, io);
  return entryId(word, session);
}

function addressed(session: Session): AddressedEntries {
  const tree = session.tree();
  return {
    leaf: session.leaf,
    tail: session.tail,
    labels: Array.from(session.labels, ([id, { label }]) => [id, label] as const),
    has: (id) => tree.node(id) !== undefined,
    parentOf: (id) => tree.node(id)?.parentId ?? null,
    *ids() {
      const left = [...tree.roots];
      for (let id = left.pop(); id !== undefined; id = left.pop()) {
        yield id;
        for (const child of tree.children(id)) left.push(child);
      }
    },
  };
}
