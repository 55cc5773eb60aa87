/** Entries of the conversation as pi has them, without their places. Pure. */
import type { AssistantContent, Usage, UserContent } from "@branchlog/core/entries";
import type { JsonValue } from "@branchlog/streaming";

export interface Body {
  readonly type: string;
  readonly [key: string]: unknown;
}

export function spokenBody(content: readonly UserContent[], timestamp: number): Body {
  return { type: "message", message: { role: "user", content, timestamp } };
}

/** Text for the model from an agent, not from a person. */
export function injectedBody(customType: string, content: readonly UserContent[]): Body {
  return { type: "custom_message", customType, content, display: false };
}

interface AnswerFacts {
  readonly api: string;
  readonly provider: string;
  readonly model: string;
  readonly usage: Usage;
  readonly timestamp: number;
  /** Default: by whether it has calls. */
  readonly stopReason?: string | undefined;
  /** It ended with an error then. */
  readonly errorMessage?: string | undefined;
}

export function answerBody(content: readonly AssistantContent[], facts: AnswerFacts): Body {
  const { stopReason, errorMessage, timestamp, ...stated } = facts;
  const hasCalls = content.some(({ type }) => type === "toolCall");
  const ended = errorMessage === undefined ? (hasCalls ? "toolUse" : "stop") : "error";
  const message = {
    role: "assistant",
    content,
    ...stated,
    stopReason: stopReason ?? ended,
    ...(errorMessage === undefined ? {} : { errorMessage }),
    timestamp,
  };
  return { type: "message", message };
}

export interface ResultFacts {
  readonly toolCallId: string;
  readonly toolName: string;
  readonly content: readonly UserContent[];
  /** Shown to people, not to the model. */
  readonly details?: JsonValue | undefined;
  readonly isError: boolean;
}

export function resultBody(
  { toolCallId, toolName, content, details, isError }: ResultFacts,
  timestamp: number,
): Body {
  const shown = details === undefined ? {} : { details };
  const result = { role: "toolResult", toolCallId, toolName, content, ...shown, isError };
  return { type: "message", message: { ...result, timestamp } };
}

interface CommandFacts {
  readonly command: string;
  readonly output: string;
  /** Ignored unless it is a number. */
  readonly exitCode: unknown;
  readonly truncated?: boolean;
}

/** Of a command that a person ran. */
export function commandBody(
  { command, output, exitCode, truncated = false }: CommandFacts,
  timestamp: number,
): Body {
  const code = typeof exitCode === "number" ? exitCode : null;
  const ended = { exitCode: code, cancelled: false, truncated };
  return {
    type: "message",
    message: { role: "bashExecution", command, output, ...ended, timestamp },
  };
}

/** Without blocks for an empty string. */
export function textContent(text: string | undefined): { type: "text"; text: string }[] {
  return text ? [{ type: "text", text }] : [];
}

export function thinkingContent(
  thinking: string | undefined,
  thinkingSignature?: string,
): AssistantContent[] {
  const signed = thinkingSignature ? { thinkingSignature } : {};
  return thinking ? [{ type: "thinking", thinking, ...signed }] : [];
}
