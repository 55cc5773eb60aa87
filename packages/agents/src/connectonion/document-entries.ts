/** The turns of a document as entries, so that searches of sessions cover documents. */
import { currentVersion } from "@branchlog/core/rows";
import type { SearchedDocument } from "@branchlog/library";
import type { SessionEntry } from "@branchlog/core/entries";
import { draftsOfChat } from "./chat-messages.ts";
import { openConnectonion } from "./connectonion-session.ts";
import { localTimeMs } from "./costs-and-times.ts";
import { numberOfTurn } from "./document-types.ts";
import { directoryOf, factsOf, plain, spokenIn } from "./import-log.ts";

/**
 * For the option `documents` of `searchSessions`. The id of each entry names its turn (`turn:3`);
 * messages that belong to no turn are left out.
 * @throws BranchlogError as `openConnectonion`.
 */
export async function connectonionEntries(path: string): Promise<SearchedDocument> {
  const { path: source, document } = await openConnectonion(path);
  const { name, turns, created } = document;
  const left = new Map(document.messages);
  let timeMs = localTimeMs(created) || 0;
  const timestamp = timeOf(timeMs);
  const entries: SessionEntry[] = [];
  for (const [place, turn] of turns.entries()) {
    const number = numberOfTurn(turn, place);
    const messages = left.get(number)?.map(plain);
    left.delete(number);
    const facts = factsOf(plain(turn), timeMs);
    timeMs = facts.endMs;
    const links = { id: `turn:${number}`, parentId: null, timestamp: timeOf(facts.startMs) };
    for (const draft of draftsOfChat(spokenIn(plain(turn), messages), facts)) {
      // Decoding boundary: drafts of known types, with the links of an entry.
      entries.push({ ...draft, ...links } as SessionEntry);
    }
  }
  const header = { type: "session", version: currentVersion, id: name, timestamp } as const;
  return { header: { ...header, cwd: directoryOf(source) }, entries };
}

function timeOf(ms: number): string {
  return new Date(ms).toISOString();
}
