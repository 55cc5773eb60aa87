/**
 * `@branchlog/library/conversation`: what is shown of the calls of a conversation. Types only, and
 * none of Node, so that a page can use them.
 */

export interface ChangedLine {
  readonly kind: "added" | "removed" | "same" | "place";
  /** With its sign, as in a diff. */
  readonly text: string;
}

export interface TouchedFile {
  readonly path: string;
  readonly added: number;
  readonly removed: number;
}

/** What a call is, whatever its tool is called. */
export type ToolUse =
  | { readonly kind: "shell"; readonly command: string }
  | {
      readonly kind: "edit" | "write";
      readonly path: string;
      readonly added: number;
      readonly removed: number;
      readonly lines: readonly ChangedLine[];
    }
  /** `range` as `720–769`; empty for a whole file. */
  | { readonly kind: "read"; readonly path: string; readonly range: string }
  | { readonly kind: "search"; readonly pattern: string; readonly path: string }
  | { readonly kind: "task"; readonly title: string; readonly prompt: string }
  | { readonly kind: "other"; readonly fields: readonly (readonly [string, string])[] };
