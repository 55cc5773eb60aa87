/** The path of a session entry by entry, each with the line that it stands on. */
import { decodeLine } from "@branchlog/streaming";
import { isBranchlogError } from "@branchlog/core";
import type { SessionEntry } from "@branchlog/core";
import type { SessionView } from "@branchlog/core/types";

/** An entry, and its line. */
export interface StoredEntry {
  /** Empty for a line that is too long to be held beside its entry. */
  readonly line: string;
  readonly entry: SessionEntry;
}

/** The entries to the leaf, root first; without those that are too large for one object. */
export async function* storedEntries(session: SessionView): AsyncGenerator<StoredEntry> {
  for await (const { id, bytes } of session.lines({ on: "branch" })) {
    const entry = bytes === null ? await buildable(session, id) : entryIn(bytes);
    if (entry !== undefined) yield { line: bytes?.toString() ?? "", entry };
  }
}

function entryIn(bytes: Buffer): SessionEntry | undefined {
  const decoded = decodeLine(bytes);
  // Decoding boundary: lines are handed out once they were read as the entries of their rows.
  return decoded.ok ? (decoded.value as unknown as SessionEntry) : undefined;
}

async function buildable(session: SessionView, id: string): Promise<SessionEntry | undefined> {
  try {
    return await session.entry(id);
  } catch (error) {
    if (isBranchlogError(error, "ERR_ENTRY_TOO_LARGE")) return undefined;
    throw error;
  }
}
