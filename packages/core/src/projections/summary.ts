/**
 * The facts that a session list shows of a log. Needs message bodies. Pure; resumable at any entry.
 */
import { isDate } from "../entries/json-fields.ts";
import type { SessionMessageEntry } from "../entries/entry-types.ts";
import type { Projection } from "./projection.ts";
import { isStoredObject, storedText, storedTimeMs } from "./stored-value.ts";

/** The folded facts. */
export interface SessionSummary {
  /**
   * Messages of every role and on every branch, malformed ones too. The fold counts each entry;
   * where an agent stores an answer as several, a list and `Session.summary` count it once.
   */
  readonly messageCount: number;
  /** The first user text that is not empty; text blocks joined by a space. */
  readonly firstMessage: string | undefined;
  /**
   * Epoch ms of the latest user or assistant message: its own timestamp, or its entry's if its own
   * is not a valid Date. Undefined if all are before 1970. If defined, it is a valid Date, and the
   * time of modification.
   */
  readonly lastActivityMs: number | undefined;
}

/** O(1) per entry, except for user texts until one is not empty. */
export const summary: Projection<SessionSummary> = {
  name: "summary",
  version: 1,
  types: ["message"],
  initial: () => ({ messageCount: 0, firstMessage: undefined, lastActivityMs: undefined }),
  apply: (state, { entry }) => {
    if (entry.type !== "message") return state;
    return {
      messageCount: state.messageCount + 1,
      firstMessage: state.firstMessage ?? userText(entry),
      lastActivityMs: later(state.lastActivityMs, activityMs(entry)),
    };
  },
};

/** Messages whose bodies were not read. */
export interface UnreadMessages {
  count: number;
  /** Epoch ms of the latest that is known to be a user's or an assistant's; else 0. */
  latestMs: number;
}

/** With messages after the first one of the user. */
export function withUnread(
  state: SessionSummary,
  { count, latestMs }: Readonly<UnreadMessages>,
): SessionSummary {
  if (count === 0) return state;
  return {
    messageCount: state.messageCount + count,
    firstMessage: state.firstMessage,
    lastActivityMs: later(state.lastActivityMs, latestMs),
  };
}

function userText(entry: SessionMessageEntry): string | undefined {
  const message = entry.message;
  if (!isStoredObject(message) || message.role !== "user") return undefined;
  return storedText(message.content, " ") || undefined;
}

function activityMs(entry: SessionMessageEntry): number {
  const message = entry.message;
  if (!isStoredObject(message) || !("content" in message)) return Number.NaN;
  if (message.role !== "user" && message.role !== "assistant") return Number.NaN;
  const own: unknown = message.timestamp;
  // One absurd time must not remain the latest.
  return typeof own === "number" && isDate(own) ? own : storedTimeMs(entry.timestamp);
}

function later(known: number | undefined, timeMs: number): number | undefined {
  return timeMs > (known ?? 0) ? timeMs : known;
}
