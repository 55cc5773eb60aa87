/** What pi's session lists show of one session, and how it is made from what is known of it. */
import type { ListedSession } from "../../catalog/listed-session.ts";
import { readSessionTextSync } from "../../catalog/session-text.ts";
import { storedTimeMs } from "../../projections/stored-value.ts";

/** One session of a list. */
export interface SessionInfo {
  /** Of the session file. */
  readonly path: string;
  readonly id: string;
  /** The working directory as the header has it; "" if it has none, as in the oldest files. */
  readonly cwd: string;
  /** The name in force. Absent if it was never named, or the name was cleared. */
  readonly name?: string;
  /** The file it was forked from, as the header has it. Absent if it is no fork. */
  readonly parentSessionPath?: string;
  /** The time in the header; an invalid Date if that cannot be read. */
  readonly created: Date;
  /** When a user or an assistant last spoke, else the time in the header, else of the file. */
  readonly modified: Date;
  /** Messages of every role and on every branch. */
  readonly messageCount: number;
  /** The first text of a user, "(no messages)" if there is none. */
  readonly firstMessage: string;
  /**
   * The text of all user and assistant messages. Read from the file on each access (synchronous,
   * O(bytes of the file), nothing is kept), also when the object is copied or serialised; "" once
   * the file is gone.
   */
  readonly allMessagesText: string;
}

/** The list entry of a session. Times that no calendar has do not count: `modified` is valid. */
export function sessionInfo(session: ListedSession): SessionInfo {
  const { path, header, name, summary, modifiedMs } = session;
  // Decoding boundary: of the header only the id was checked.
  const cwd: unknown = header.cwd;
  const parentSession: unknown = header.parentSession;
  return {
    path,
    id: header.id,
    cwd: typeof cwd === "string" ? cwd : "",
    ...(name === undefined ? {} : { name }),
    ...(typeof parentSession === "string" ? { parentSessionPath: parentSession } : {}),
    created: new Date(storedTimeMs(header.timestamp)),
    modified: new Date(modifiedMs),
    messageCount: summary.messageCount,
    firstMessage: summary.firstMessage ?? "(no messages)",
    get allMessagesText() {
      return textOf(path);
    },
  };
}

function textOf(path: string): string {
  try {
    return readSessionTextSync(path);
  } catch {
    // A list outlives the files it shows; what is gone has no text.
    return "";
  }
}
