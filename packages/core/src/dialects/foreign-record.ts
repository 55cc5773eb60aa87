/** Distinguishes records of other agents' transcripts from records of a session. Pure. */
import type { JsonObject } from "@branchlog/streaming";
import { isObject, stringAt } from "../entries/json-fields.ts";
import { ClaudeTranscript } from "./claude-transcript.ts";
import { isBareOfCodex } from "./codex-record.ts";
import { CodexTranscript } from "./codex-transcript.ts";
import { isLinked, titleSlotType } from "./log-record.ts";
import type { Transcript } from "./transcript.ts";

/** The agents whose transcripts are read in place, and imported. */
export const sourceKinds = ["claude", "codex"] as const;

export type SourceKind = (typeof sourceKinds)[number];

/** Names for messages. */
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

/** Records without a place in the tree and a session id. */
const claudeTypes: ReadonlySet<string> = new Set(["summary", "file-history-snapshot"]);

/** Undefined if unknown. */
export function kindOf(record: JsonObject): SourceKind | undefined {
  const type = stringAt(record, "type");
  if (type === undefined) return isBareOfCodex(record) ? "codex" : undefined;
  if (codexTypes.has(type) && isObject(record["payload"])) return "codex";
  const isClaude =
    claudeTypes.has(type) ||
    typeof record["sessionId"] === "string" ||
    ("parentUuid" in record && typeof record["uuid"] === "string");
  return isClaude ? "claude" : undefined;
}

/**
 * Presumed for the unread part of a record, so that its beginning is recognised like the whole: by
 * a type, or by a field that only one agent writes.
 */
const unread: JsonObject = { type: "", parentId: null, message: {}, payload: {}, uuid: "" };

/** Completes the beginning of a record, so that it can be classified. */
export function presumedRecord(beginning: JsonObject): JsonObject {
  return { ...unread, ...beginning };
}

/**
 * Whether only a session has such a record: header, title slot, linked entry, or a v1 message.
 * Entries of extensions may hold any other field.
 */
export function isOfSession(record: JsonObject): boolean {
  const { type, message } = record;
  if (typeof type !== "string") return false;
  if (type === "session" || type === titleSlotType || isLinked(record)) return true;
  return type === "message" && isObject(message);
}

/**
 * @param fileName May hold the id of the session.
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

/** What every refusal to write to a transcript advises. */
export const copyAdvice: string =
  "Make a session of it with branchlog import FILE -o NEW, or importSession(), and work with that.";
