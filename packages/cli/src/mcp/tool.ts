/** The arguments and the answer of a tool. */
import type { SessionReader } from "./session-reader.ts";
import type { SessionScope } from "./session-scope.ts";

export interface ToolSetting {
  readonly scope: SessionScope;
  readonly reader: SessionReader;
  /** In epoch ms. */
  readonly now: () => number;
  readonly monotonicMs: () => number;
}

/** Of one call. */
export interface ToolCall {
  readonly signal: AbortSignal;
  /** Undefined: the client did not ask for it. */
  readonly onProgress: ((done: number, total: number) => void) | undefined;
}

/** The same as data and as text: clients show their model one of them. */
export interface ToolAnswer<T extends object> {
  readonly data: T;
  readonly text: string;
}

/** Of all texts of an answer, in UTF-16 units, by default. */
export const charactersDefault = 16_000;

/** Below a page that is not the last. */
export function moreText(cursor: string | undefined): string {
  return cursor === undefined ? "" : `\nMore: the same arguments with cursor "${cursor}"\n`;
}
