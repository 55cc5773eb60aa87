/**
 * The messages of a conversation under pi's names: stored ones, and those that only a context has.
 * Types only: messages of other roles, or with missing fields, are returned as stored.
 */

/** What the user said. Stored since v1. */
export interface UserMessage {
  readonly role: "user";
  readonly content: string | UserContent[];
  /** Epoch milliseconds. */
  readonly timestamp: number;
}

/** What the model answered. Stored since v1. */
export interface AssistantMessage {
  readonly role: "assistant";
  readonly content: AssistantContent[];
  /** The wire protocol it came over, for instance `anthropic-messages`. */
  readonly api: string;
  readonly provider: string;
  readonly model: string;
  readonly usage: Usage;
  readonly stopReason: StopReason;
  /** Epoch milliseconds. */
  readonly timestamp: number;
  /** With the stop reasons `error` and `aborted`. */
  readonly errorMessage?: string | undefined;
}

/** What a tool returned for one tool call. Stored since v1. */
export interface ToolResultMessage<T = unknown> {
  readonly role: "toolResult";
  readonly toolCallId: string;
  readonly toolName: string;
  readonly content: UserContent[];
  /** For the user interface; never sent to a model. */
  readonly details?: T | undefined;
  readonly isError: boolean;
  /** Epoch milliseconds. */
  readonly timestamp: number;
  /** What the tool itself spent on models. Since pi 0.81.0. */
  readonly usage?: Usage | undefined;
  /** As stored by the extension of the tool. */
  readonly nestedCalls?: unknown;
}

/** A shell command that the user ran outside the conversation (`!cmd`). */
export interface BashExecutionMessage {
  readonly role: "bashExecution";
  readonly command: string;
  readonly output: string;
  /** Absent when the command did not end by itself. */
  readonly exitCode?: number | null | undefined;
  readonly cancelled: boolean;
  readonly truncated: boolean;
  /** Where the whole output is, if it was truncated. */
  readonly fullOutputPath?: string | undefined;
  /** Epoch milliseconds. */
  readonly timestamp: number;
  /** `!!cmd`: never sent to a model. */
  readonly excludeFromContext?: boolean | undefined;
}

/** A tool as it was announced to the model; its parameters are a JSON schema. */
export interface SystemTool {
  readonly name: string;
  readonly description: string;
  readonly parameters: unknown;
}

/** The system prompt, or a change of it. Stored since pi 0.86.0. */
export interface SystemMessage {
  readonly role: "system";
  readonly content: string | TextContent[];
  /** A later message replaces a part by name, null removes it. */
  readonly sections?: Record<string, string | null> | undefined;
  readonly toolsAdded?: SystemTool[] | undefined;
  readonly toolsRemoved?: { readonly name: string }[] | undefined;
  /** Epoch milliseconds. */
  readonly timestamp: number;
}

/**
 * A message of an extension. Stored as `custom_message`; under `message` only before v3, with the
 * role `hookMessage`.
 */
export interface CustomMessage<T = unknown> {
  readonly role: "custom";
  readonly customType: string;
  readonly content: string | UserContent[];
  /** Whether the user interface shows it; the model gets it either way. */
  readonly display: boolean;
  /** For the extension; never sent to a model. */
  readonly details?: T | undefined;
  /** omp only: the author of the message. */
  readonly attribution?: "user" | "agent" | undefined;
  /** Epoch milliseconds. */
  readonly timestamp: number;
}

/** The summary of a branch that was left. In contexts only, never stored. */
export interface BranchSummaryMessage {
  readonly role: "branchSummary";
  readonly summary: string;
  readonly fromId: string;
  /** Epoch milliseconds. */
  readonly timestamp: number;
}

/** The summary of a compaction. In contexts only, never stored. */
export interface CompactionSummaryMessage {
  readonly role: "compactionSummary";
  readonly summary: string;
  /** omp only: for the user interface. */
  readonly shortSummary?: string | undefined;
  readonly tokensBefore: number;
  /** Epoch milliseconds. */
  readonly timestamp: number;
}

/** Every known message, discriminated by `role`. */
export type AgentMessage =
  | UserMessage
  | AssistantMessage
  | ToolResultMessage
  | BashExecutionMessage
  | CustomMessage
  | SystemMessage
  | BranchSummaryMessage
  | CompactionSummaryMessage;

// Content blocks, token counts and levels, under pi's names; never checked against these types.
// Fields are read-only, arrays are not, so that messages can be passed to code typed against pi.

/** Plain text. In user, assistant, tool result, system and custom content. */
export interface TextContent {
  readonly type: "text";
  readonly text: string;
  /** Opaque: for the provider. */
  readonly textSignature?: string | undefined;
}

/** An image stored inline. In user, tool result and custom content. */
export interface ImageContent {
  readonly type: "image";
  /** The image itself, base64. */
  readonly data: string;
  /** For instance `image/png`. */
  readonly mimeType: string;
}

/** What a model thought before it answered. In assistant content. */
export interface ThinkingContent {
  readonly type: "thinking";
  readonly thinking: string;
  /** Opaque: for the provider. */
  readonly thinkingSignature?: string | undefined;
  /** The provider withheld the text; see the signature. */
  readonly redacted?: boolean | undefined;
}

/** A call of a tool by the model. In assistant content. */
export interface ToolCall {
  readonly type: "toolCall";
  /** `toolCallId` of its result. */
  readonly id: string;
  readonly name: string;
  /** Never JSON text. */
  readonly arguments: Record<string, unknown>;
  /** Opaque: for the provider. */
  readonly thoughtSignature?: string | undefined;
}

/** Content of a user, tool result or custom message when it is not one string. */
export type UserContent = TextContent | ImageContent;

/** Content of an assistant message. */
export type AssistantContent = TextContent | ThinkingContent | ToolCall;

export type ContentBlock = TextContent | ImageContent | ThinkingContent | ToolCall;

/** Cost of one request, in US dollars. */
export interface UsageCost {
  readonly input: number;
  readonly output: number;
  readonly cacheRead: number;
  readonly cacheWrite: number;
  readonly total: number;
}

/** What one request to a model consumed, in tokens. */
export interface Usage {
  readonly input: number;
  readonly output: number;
  readonly cacheRead: number;
  readonly cacheWrite: number;
  readonly totalTokens: number;
  readonly cost: UsageCost;
}

/** Why a model stopped. pi's in-memory `pending` is never stored. */
export type StopReason = "stop" | "length" | "toolUse" | "error" | "aborted";

/** How hard a model thinks. Stored as a string: files may hold other words. */
export type ThinkingLevel = "off" | "minimal" | "low" | "medium" | "high" | "xhigh";
