/** The content of a ConnectOnion document, as found: values are not checked against the types. */
import type { JsonObject, JsonValue } from "@branchlog/streaming";
import type { TurnSummary } from "./session-turns.ts";

/** A tool call of OpenAI's chat API. */
export interface ChatToolCall {
  readonly id: string;
  readonly type: string;
  readonly function: { readonly name: string; /** JSON text. */ readonly arguments: string };
}

/** A message of OpenAI's chat API. */
export interface ChatMessage {
  /** `system`, `user`, `assistant` or `tool`. */
  readonly role: string;
  /** Null next to tool calls; a list of parts where there are images. */
  readonly content?: JsonValue;
  readonly tool_calls?: readonly ChatToolCall[];
  /** Of the call that a `tool` message answers. */
  readonly tool_call_id?: string;
  readonly [key: string]: unknown;
}

export interface NewTurn extends TurnSummary {
  /** `YYYY-MM-DD HH:MM:SS`, local time. Default: now. */
  readonly timestamp?: string;
  readonly [key: string]: unknown;
}

export interface ConnectonionTurn extends NewTurn {
  readonly turn: number;
  readonly timestamp: string;
}

export interface ConnectonionTotals {
  readonly count: number;
  /** US dollars, rounded to four places at each addition. */
  readonly total_cost: number;
  readonly total_tokens: number;
  readonly passed: number;
  readonly failed: number;
}

/** The totals in a document; undefined if missing or not a number. */
export interface StoredTotals {
  readonly total_cost: number | undefined;
  readonly total_tokens: number | undefined;
}

/** Irregularities of a document. None of them prevents its use. */
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

export interface DocumentDiagnostic {
  readonly kind: DocumentDiagnosticKind;
  readonly message: string;
  /** The number of the turn that it is about. */
  readonly turn?: number;
}

/** Whether messages are under their own key by turn, or inside the turns as JSON text. */
export type DocumentShape = "keyed" | "nested";

export interface ConnectonionDocument {
  /** As PyYAML reads it; times and other values without a JSON form are texts. */
  readonly data: JsonObject;
  readonly name: string;
  readonly created: string;
  readonly updated: string;
  readonly systemPrompt: string | undefined;
  readonly turns: readonly ConnectonionTurn[];
  /** By the number of their turn, in numeric order. */
  readonly messages: ReadonlyMap<number, readonly ChatMessage[]>;
  readonly shape: DocumentShape;
  readonly storedTotals: StoredTotals;
  readonly totals: ConnectonionTotals;
  readonly diagnostics: readonly DocumentDiagnostic[];
}

/** Default: by position. */
export function numberOfTurn(turn: { readonly turn?: unknown }, place: number): number {
  const { turn: number } = turn;
  return typeof number === "number" && Number.isSafeInteger(number) ? number : place + 1;
}
