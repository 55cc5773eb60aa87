/**
 * Records of Codex's rollouts in one form. Since September 2025 each is an envelope; before, the
 * first holds the facts of the session, and each other one is an item, or a state. Pure.
 */
import type { JsonObject } from "@branchlog/streaming";
import { objectAt, stringAt } from "@branchlog/core/rows";

export interface CodexRecord {
  /** Of a record without an envelope: that of its envelope today; `state` for a state. */
  readonly type: string;
  /** Without an envelope: the record itself. */
  readonly payload: JsonObject;
}

/** Undefined for neither an envelope nor a known record without one. */
export function codexRecord(record: JsonObject): CodexRecord | undefined {
  const payload = objectAt(record, "payload");
  const type = stringAt(record, "type");
  if (payload !== undefined) return { type: type ?? "", payload };
  if (isBareMeta(record)) return { type: "session_meta", payload: record };
  if (isBareState(record)) return { type: "state", payload: record };
  const isItem = type !== undefined && bareItems.has(type);
  return isItem ? { type: "response_item", payload: record } : undefined;
}

/**
 * Whether only a rollout without envelopes has such a record. Its items are not sufficient: other
 * programs log messages and calls in the form of the same API.
 */
export function isBareOfCodex(record: JsonObject): boolean {
  return isBareMeta(record) || isBareState(record);
}

const bareItems: ReadonlySet<string> = new Set([
  "message",
  "reasoning",
  "local_shell_call",
  "function_call",
  "function_call_output",
  "custom_tool_call",
  "custom_tool_call_output",
]);

const uuid = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const metaKeys: ReadonlySet<string> = new Set(["id", "timestamp", "instructions", "git"]);

/** Without instructions and git, its first versions wrote only id and time. */
function isBareMeta(record: JsonObject): boolean {
  const { id, timestamp } = record;
  if (typeof id !== "string" || typeof timestamp !== "string" || !uuid.test(id)) return false;
  return Object.keys(record).every((key) => metaKeys.has(key));
}

function isBareState(record: JsonObject): boolean {
  return record["record_type"] === "state" && !("type" in record);
}
