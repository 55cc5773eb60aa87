/** Maps content of Claude Code's messages to pi's; returns blocks without a form. Pure. */
import { createHash } from "node:crypto";
import { usageOf } from "@branchlog/core/rows";
import type { JsonObject, JsonValue } from "@branchlog/streaming";
import { countAt, isObject, objectAt, stringAt } from "@branchlog/core/rows";
import type { StopReason, Usage, AssistantContent, UserContent } from "@branchlog/core/entries";
import { mappedContent, textsOf, withoutEmptyText } from "../foreign-content.ts";
import type { MappedContent, ToolOutput } from "../foreign-content.ts";
import { answerBlock, spokenBlock } from "../anthropic-content.ts";
import { typedText } from "./claude-prompts.ts";
import type { UserSpeech } from "./claude-prompts.ts";

/** The model of messages that Claude Code wrote itself. */
export const syntheticModel = "<synthetic>";

/** Fields that the header or the tree hold already. */
export const envelopeKeys: ReadonlySet<string> = new Set([
  "type",
  "uuid",
  "parentUuid",
  "logicalParentUuid",
  "isSidechain",
  "timestamp",
  "sessionId",
  "cwd",
  "version",
  "gitBranch",
  "userType",
]);

export type UserPart =
  | {
      /** `meta` and `injected`: by the agent. */
      readonly kind: "typed" | "injected" | "meta";
      readonly content: string | UserContent[];
    }
  | ({ readonly kind: "result" } & ToolOutput);

export interface UserParts {
  readonly parts: readonly UserPart[];
  readonly rest: readonly JsonValue[];
}

/** Without empty texts. */
export function assistantParts(message: JsonObject | undefined): MappedContent<AssistantContent> {
  return withoutEmptyText(mappedContent(message?.["content"], answerBlock));
}

export type AnswerPart =
  | { readonly kind: "answer"; readonly content: readonly AssistantContent[] }
  | ({ readonly kind: "result"; readonly details: JsonValue } & ToolOutput);

export interface AnswerParts {
  readonly parts: readonly AnswerPart[];
  readonly rest: readonly JsonValue[];
}

/** Results of server-side tools, and the texts of the model between them, if any. */
export function answerParts(message: JsonObject | undefined): AnswerParts {
  const content = message?.["content"];
  const blocks = Array.isArray(content) ? content : [];
  const results = blocks.map((block) => (isObject(block) ? serverResult(block) : undefined));
  if (results.every((result) => result === undefined)) {
    const { content: said, rest } = assistantParts(message);
    return { parts: [{ kind: "answer", content: said }], rest };
  }
  const parts: AnswerPart[] = [];
  const rest: JsonValue[] = [];
  let said: JsonValue[] = [];
  const answer = (): AnswerPart => {
    const mapped = assistantParts({ content: said });
    rest.push(...mapped.rest);
    return { kind: "answer", content: mapped.content };
  };
  for (const [at, block] of blocks.entries()) {
    const result = results[at];
    if (result === undefined) {
      said.push(block);
      continue;
    }
    if (said.length > 0) parts.push(answer());
    said = [];
    parts.push(result);
  }
  return { parts: [...parts, answer()], rest };
}

function serverResult(block: JsonObject): AnswerPart | undefined {
  const callId = stringAt(block, "tool_use_id");
  if (callId === undefined || stringAt(block, "type")?.endsWith("_tool_result") !== true) {
    return undefined;
  }
  const details = block["content"] ?? null;
  const text = textsWithin(details, 0).join("\n");
  const content: UserContent[] = text === "" ? [] : [{ type: "text", text }];
  const isError = isObject(details) && stringAt(details, "type")?.endsWith("_error") === true;
  return { kind: "result", callId, content, isError, details };
}

/** Of a result of any form; nested deeper than any known one, they are left out. */
function textsWithin(value: JsonValue, depth: number): readonly string[] {
  if (typeof value === "string") return value === "" ? [] : [value];
  if (depth > 8) return [];
  if (Array.isArray(value)) return value.flatMap((member) => textsWithin(member, depth + 1));
  if (!isObject(value) || value["type"] === "base64") return [];
  return Object.entries(value).flatMap(([key, member]) =>
    unspokenKeys.test(key) ? [] : textsWithin(member, depth + 1),
  );
}

const unspokenKeys = /^(?:type|media_type|file_id|page_age|cache_control|citations|encrypted_\w+)$/;

/**
 * Results in place, and between them messages, with those of a person separate from the agent's.
 */
export function userParts({ content, isMeta, isInjected }: UserSpeech): UserParts {
  const ofAgent = isMeta ? "meta" : isInjected ? "injected" : undefined;
  const spoken = (text: string): Spoken => {
    const typed = ofAgent === undefined ? typedText(text) : undefined;
    return { kind: typed === undefined ? (ofAgent ?? "injected") : "typed", text: typed ?? text };
  };
  if (typeof content === "string") {
    const { kind, text } = spoken(content);
    return { parts: content === "" ? [] : [{ kind, content: text }], rest: [] };
  }
  const parts: UserPart[] = [];
  const rest: JsonValue[] = [];
  let said: UserContent[] = [];
  let by: Spoken["kind"] = "typed";
  const say = (kind: Spoken["kind"], block: UserContent): void => {
    if (kind !== by) endSpeech();
    by = kind;
    said.push(block);
  };
  const endSpeech = (): void => {
    if (said.length > 0) parts.push({ kind: by, content: said });
    said = [];
  };
  for (const block of Array.isArray(content) ? content : []) {
    const callId = isObject(block) ? stringAt(block, "tool_use_id") : undefined;
    if (isObject(block) && block["type"] === "tool_result" && callId !== undefined) {
      endSpeech();
      const result = mappedContent(block["content"], spokenBlock);
      for (const left of result.rest) rest.push(left);
      const isError = block["is_error"] === true;
      parts.push({ kind: "result", callId, content: result.content, isError });
      continue;
    }
    const mapped = isObject(block) ? spokenBlock(block) : undefined;
    const document = isObject(block) ? documentText(block) : undefined;
    if (document !== undefined) say(ofAgent ?? "injected", document);
    else if (mapped === undefined) rest.push(block);
    else if (mapped.type !== "text") say(ofAgent ?? "typed", mapped);
    else if (mapped.text !== "") {
      const { kind, text } = spoken(mapped.text);
      say(kind, { ...mapped, text });
    }
  }
  endSpeech();
  return { parts, rest };
}

interface Spoken {
  readonly kind: "typed" | "injected" | "meta";
  readonly text: string;
}

/** Of a file that was attached as text. */
function documentText(block: JsonObject): UserContent | undefined {
  const source = block["type"] === "document" ? objectAt(block, "source") : undefined;
  const text = source?.["type"] === "text" ? stringAt(source, "data") : undefined;
  return text === undefined ? undefined : { type: "text", text };
}

export function claudeUsage(message: JsonObject | undefined): Usage {
  const usage = objectAt(message, "usage");
  return usageOf(
    countAt(usage, "input_tokens"),
    countAt(usage, "output_tokens"),
    countAt(usage, "cache_read_input_tokens"),
    countAt(usage, "cache_creation_input_tokens"),
  );
}

export function claudeText(content: JsonValue | undefined): string {
  return textsOf(content).join("\n\n");
}

/** Identifies the task of a subagent without keeping its text. */
export function taskDigest(task: string): string {
  return createHash("sha256").update(task).digest("base64");
}

/** Parts of a message that is still streaming have no reason. */
export function claudeStopReason(
  reason: string | undefined,
  content: readonly AssistantContent[],
): StopReason {
  switch (reason) {
    case undefined:
      return content.some(({ type }) => type === "toolCall") ? "toolUse" : "stop";
    case "tool_use":
      return "toolUse";
    case "max_tokens":
    case "model_context_window_exceeded":
      return "length";
    case "end_turn":
    case "stop_sequence":
    case "pause_turn":
      return "stop";
    default:
      return "error";
  }
}
