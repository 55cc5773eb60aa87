/**
 * Distinguishes records of other agents, whose transcripts can be imported, from records of a
 * session. Pure. It reads one record; the caller decides which records of a file count.
 */
import type { JsonObject } from "@branchlog/streaming";
import { isObject, stringAt } from "../entries/json-fields.ts";
import { ClaudeTranscript } from "./claude-transcript.ts";
import { CodexTranscript } from "./codex-transcript.ts";
import { isLinked, titleSlotType } from "./log-record.ts";
import type { Transcript } from "./transcript.ts";

/** The agents whose transcripts are imported. */
export type SourceKind = "claude" | "codex";

/** What the transcripts of an agent are called in messages. */
export const transcriptNames: Readonly<Record<SourceKind, string>> = {
  claude: "a transcript of Claude Code",
  codex: "a rollout of Codex",
};

const codexTypes: ReadonlySet<string> = new Set([
  "session_meta",
  "turn_context",
  "response_item",
  "event_msg",
  "compacted",
]);

/** Records of Claude Code that have neither a place in the tree nor a session id. */
const claudeTypes: ReadonlySet<string> = new Set(["summary", "file-history-snapshot"]);

/** The agent that wrote a record; undefined if it is not known. */
export function kindOf(record: JsonObject): SourceKind | undefined {
  const type = stringAt(record, "type");
  if (type === undefined) return undefined;
  if (codexTypes.has(type) && isObject(record["payload"])) return "codex";
  const isClaude =
    claudeTypes.has(type) ||
    typeof record["sessionId"] === "string" ||
    ("parentUuid" in record && typeof record["uuid"] === "string");
  return isClaude ? "claude" : undefined;
}

/**
 * What is assumed of the part of a record that was not read, so that its beginning is recognised as
 * the record would be: by a type, or by a field that only one of the agents writes.
 */
const unread: JsonObject = { type: "", parentId: null, message: {}, payload: {}, uuid: "" };

/** A record of which only the beginning is known, to be asked about as a whole one. */
export function presumedRecord(beginning: JsonObject): JsonObject {
  return { ...unread, ...beginning };
}

/**
 * Whether only a session has such a record: a header, a title slot, an entry with its links, or a
 * message of version 1, which has none. An entry of an extension may hold any other field.
 */
export function isOfSession(record: JsonObject): boolean {
  const { type, message } = record;
  if (typeof type !== "string") return false;
  if (type === "session" || type === titleSlotType || isLinked(record)) return true;
  return type === "message" && isObject(message);
}

/**
 * @param fileName Name of the transcript, which may have the id of the session.
 * @param isEntry Whether the index has an entry of that id.
 */
export function transcriptOf(
  kind: SourceKind,
  fileName: string,
  isEntry: (id: string) => boolean,
): Transcript {
  return kind === "claude"
    ? new ClaudeTranscript(fileName, isEntry)
    : new CodexTranscript(fileName);
}
