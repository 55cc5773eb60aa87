/** The kind and content of a record of Claude Code, read once. Pure. */
import type { JsonObject } from "@branchlog/streaming";
import { objectAt, stringAt } from "@branchlog/core/rows";
import { answerParts, userParts } from "./claude-content.ts";
import type { AnswerPart, UserPart } from "./claude-content.ts";
import { userSpeech } from "./claude-prompts.ts";
import { promptText } from "./queued-prompts.ts";

/** The kind of a record, read once: each access to one of many forms takes time. */
export interface ReadRecord {
  readonly record: JsonObject;
  readonly type: string;
  readonly uuid: string | undefined;
  /** Of its entry. */
  readonly id: string;
  readonly message: JsonObject | undefined;
  readonly said: Said | undefined;
  readonly isSide: boolean;
  /** Of a compaction. */
  readonly isBoundary: boolean;
  readonly isSummary: boolean;
}

/** Of a record that removes a prompt from the queue. */
export const queueType = "queue-operation";

export function readRecord(record: JsonObject, uuid: string | undefined, line: number): ReadRecord {
  const type = stringAt(record, "type") ?? "";
  const message = objectAt(record, "message");
  return {
    record,
    type,
    uuid,
    id: uuid ?? `line:${line}`,
    message,
    said: saidIn(record, type, message),
    isSide: record["isSidechain"] === true,
    isBoundary: stringAt(record, "subtype") === "compact_boundary",
    isSummary: record["isCompactSummary"] === true,
  };
}

/** The content of a record, read once. */
type Said =
  | { readonly kind: "answer"; readonly parts: readonly AnswerPart[]; readonly isEmpty: boolean }
  | {
      readonly kind: "speech";
      readonly parts: readonly UserPart[];
      readonly text: string;
      /** Whether it has images, or blocks without a form, as images after URLs. */
      readonly hasImage: boolean;
      readonly isEmpty: boolean;
    };

function saidIn(
  record: JsonObject,
  type: string,
  message: JsonObject | undefined,
): Said | undefined {
  if (type === "assistant") {
    const { parts, rest } = answerParts(message);
    const isSilent = parts.every((part) => part.kind === "answer" && part.content.length === 0);
    return { kind: "answer", parts, isEmpty: isSilent && rest.length === 0 };
  }
  const speech = userSpeech(record);
  if (speech === undefined) return undefined;
  const { parts, rest } = userParts(speech);
  const isSilent = parts.length === 0 && rest.length === 0;
  const isKept = record["toolUseResult"] !== undefined || record["isCompactSummary"] === true;
  return {
    kind: "speech",
    parts,
    text: parts.every(({ kind }) => kind === "result") ? "" : promptText(speech),
    hasImage: rest.length > 0 || parts.some(isShown),
    isEmpty: isSilent && !isKept,
  };
}

/** Whether it is neither from the user nor from the model. */
export function isNote(said: Said | undefined): boolean {
  const isByAgent = ({ kind }: UserPart): boolean => kind === "injected" || kind === "meta";
  return said === undefined || (said.kind === "speech" && said.parts.every(isByAgent));
}

function isShown({ content }: UserPart): boolean {
  return typeof content !== "string" && content.some(({ type }) => type === "image");
}

export function withoutKeys(record: JsonObject, keys: ReadonlySet<string>): JsonObject {
  return Object.fromEntries(Object.entries(record).filter(([key]) => !keys.has(key)));
}
