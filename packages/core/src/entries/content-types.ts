/**
 * The content blocks, token counts and levels that stored messages are made of, under pi's names.
 * Types only: what is on disk is handed out as stored and never checked against them. Fields are
 * read-only, arrays are not, so that a message can be passed on to code typed against pi.
 */

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
  /** The provider withheld the text; the signature stands for it. */
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
