/**
 * The messages of a conversation, under pi's names: what `message` entries store, and those that
 * only a context holds. Types only: a message of another role, or with missing fields, is handed
 * out as stored; tell it apart with {@link isKnownMessage}.
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
  /** Tool calls that this tool made, as its extension stored them. */
  readonly nestedCalls?: unknown;
}

/** A shell command that the user ran beside the conversation (`!cmd`). */
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
  /** Named parts of the prompt; a later message replaces a part by name, null removes it. */
  readonly sections?: Record<string, string | null> | undefined;
  readonly toolsAdded?: SystemTool[] | undefined;
  readonly toolsRemoved?: { readonly name: string }[] | undefined;
  /** Epoch milliseconds. */
  readonly timestamp: number;
}

/**
 * A message of an extension. New ones are stored as `custom_message` entries; under `message` they
 * only occur in files older than v3, where the role was `hookMessage`.
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

/** What a branch that was left held, as a context has it. Never stored as a message. */
export interface BranchSummaryMessage {
  readonly role: "branchSummary";
  readonly summary: string;
  readonly fromId: string;
  /** Epoch milliseconds. */
  readonly timestamp: number;
}

/** What was compacted away, as a context has it. Never stored as a message. */
export interface CompactionSummaryMessage {
  readonly role: "compactionSummary";
  readonly summary: string;
  /** omp only: the summary in few words. */
  readonly shortSummary?: string | undefined;
  readonly tokensBefore: number;
  /** Epoch milliseconds. */
  readonly timestamp: number;
}

/** Every message that this version knows, told apart by `role`. */
export type AgentMessage =
  | UserMessage
  | AssistantMessage
  | ToolResultMessage
  | BashExecutionMessage
  | CustomMessage
  | SystemMessage
  | BranchSummaryMessage
  | CompactionSummaryMessage;

/**
 * A message of a role that this version does not know. Not part of {@link AgentMessage}: a `role`
 * of type string in that union would stop it from being narrowed by the roles that are known.
 */
interface UnknownMessage {
  readonly role: string;
  readonly [key: string]: unknown;
}

/** Any message as stored. */
export type AnyMessage = AgentMessage | UnknownMessage;

const knownRoles = {
  user: true,
  assistant: true,
  toolResult: true,
  bashExecution: true,
  custom: true,
  system: true,
  branchSummary: true,
  compactionSummary: true,
} satisfies Record<AgentMessage["role"], true>;

/** Whether the role is one of {@link AgentMessage}; the other fields are not checked. */
export function isKnownMessage(message: AnyMessage): message is AgentMessage {
  return Object.hasOwn(knownRoles, message.role);
}

// The content blocks, token counts and levels that stored messages are made of, under pi's names.
// Types only: what is on disk is handed out as stored and never checked against them. Fields are
// read-only, arrays are not, so that a message can be passed on to code typed against pi.

/** Plain text. In user, assistant, tool result, system and custom content. */
export interface TextContent {
  readonly type: "text";
  readonly text: string;
  /** Opaque to us: what a provider wants back with this block. */
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
  /** Opaque to us: what a provider wants back with this block. */
  readonly thinkingSignature?: string | undefined;
  /** The provider withheld the text; the signature replaces it. */
  readonly redacted?: boolean | undefined;
}

/** A call of a tool by the model. In assistant content. */
export interface ToolCall {
  readonly type: "toolCall";
  /** Ties the call to its result: `toolCallId` of a tool result message. */
  readonly id: string;
  readonly name: string;
  /** The arguments as an object, never as JSON text. */
  readonly arguments: Record<string, unknown>;
  /** Opaque to us: what a provider wants back with this block. */
  readonly thoughtSignature?: string | undefined;
}

/** Content of a user, tool result or custom message when it is not one string. */
export type UserContent = TextContent | ImageContent;

/** Content of an assistant message. */
export type AssistantContent = TextContent | ThinkingContent | ToolCall;

/** Any content block of a stored message. */
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
