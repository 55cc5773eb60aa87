/**
 * What a ConnectOnion document says, under its own names. What is in a file is handed out as found,
 * with unknown keys in their order, and never checked against these types.
 */
import type { JsonObject, JsonValue } from "@branchlog/streaming";
import type { TurnSummary } from "./session-turns.ts";

/** A call of a tool, as the chat API of OpenAI has it. */
export interface ChatToolCall {
  readonly id: string;
  readonly type: string;
  readonly function: { readonly name: string; /** JSON text. */ readonly arguments: string };
}

/** A message, as the chat API of OpenAI has it. */
export interface ChatMessage {
  /** `system`, `user`, `assistant` or `tool`. */
  readonly role: string;
  /** Null beside tool calls; a list of parts where there are images. */
  readonly content?: JsonValue;
  readonly tool_calls?: readonly ChatToolCall[];
  /** Of the call that a `tool` message answers. */
  readonly tool_call_id?: string;
  readonly [key: string]: unknown;
}

/** What the caller of an append says of the turn. */
export interface NewTurn extends TurnSummary {
  /** `YYYY-MM-DD HH:MM:SS`, local time. Default: now. */
  readonly timestamp?: string;
  /** Anything else, such as what an evaluation says. */
  readonly [key: string]: unknown;
}

/** A turn of a document, as found. */
export interface ConnectonionTurn extends NewTurn {
  /** Its number, from 1. */
  readonly turn: number;
  readonly timestamp: string;
}

/** Sums over the turns of a document. */
export interface ConnectonionTotals {
  readonly count: number;
  /** US dollars, rounded to four places at each addition. */
  readonly total_cost: number;
  readonly total_tokens: number;
  readonly passed: number;
  readonly failed: number;
}

/** What a document says of its own totals; undefined where it says nothing, or no number. */
export interface StoredTotals {
  readonly total_cost: number | undefined;
  readonly total_tokens: number | undefined;
}

/** What is odd about a document. Nothing of it keeps the document from being used. */
export type DocumentDiagnosticKind =
  | "duplicate-key"
  | "duplicate-turn"
  | "messages-unreadable"
  | "messages-without-turn"
  | "missing-turn"
  | "no-json-form"
  | "total-cost-differs"
  | "total-tokens-differ"
  | "turn-without-messages"
  | "updated-before-last-turn";

/** One finding. */
export interface DocumentDiagnostic {
  readonly kind: DocumentDiagnosticKind;
  /** A sentence for people. */
  readonly message: string;
  /** The number of the turn that it is about. */
  readonly turn?: number;
}

/**
 * Where the messages are: under their own key by the number of the turn, or inside the turns, as
 * later versions of the tool have it, each list as JSON text.
 */
export type DocumentShape = "keyed" | "nested";

/** A document as it was read. */
export interface ConnectonionDocument {
  /** All of it, as PyYAML reads it; times and other values beyond JSON are texts. */
  readonly data: JsonObject;
  readonly name: string;
  readonly created: string;
  readonly updated: string;
  /** Undefined if there is none. */
  readonly systemPrompt: string | undefined;
  readonly turns: readonly ConnectonionTurn[];
  /** By the number of their turn, in numeric order. */
  readonly messages: ReadonlyMap<number, readonly ChatMessage[]>;
  readonly shape: DocumentShape;
  readonly storedTotals: StoredTotals;
  readonly totals: ConnectonionTotals;
  readonly diagnostics: readonly DocumentDiagnostic[];
}

/** The number that a turn says it has; else that of its place. */
export function numberOfTurn(turn: { readonly turn?: unknown }, place: number): number {
  const { turn: number } = turn;
  return typeof number === "number" && Number.isSafeInteger(number) ? number : place + 1;
}
