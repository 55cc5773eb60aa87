/** What can be done to a session manager, as plain data that goes to another process. */

/**
 * Which entry is meant: its place in file order, counted around the end. Negative: an id that no
 * entry has.
 */
export type Place = number;

/** One call, or a few that belong together. */
export type Operation =
  | { readonly do: "message"; readonly message: object }
  | { readonly do: "thinking"; readonly level: string }
  | { readonly do: "model"; readonly provider: string; readonly model: string }
  | { readonly do: "usage"; readonly usage: object; readonly note?: string }
  | {
      readonly do: "compact";
      readonly summary: string;
      readonly kept: Place | null;
      readonly rest: readonly unknown[];
    }
  | { readonly do: "custom"; readonly type: string; readonly data?: unknown }
  | { readonly do: "note"; readonly content: unknown; readonly rest: readonly unknown[] }
  | { readonly do: "name"; readonly name: string }
  | { readonly do: "label"; readonly target: Place; readonly label?: string }
  | { readonly do: "edit"; readonly target: Place; readonly replacement: unknown }
  | { readonly do: "branch"; readonly to: Place }
  | { readonly do: "reset" }
  | {
      readonly do: "summary";
      readonly to: Place | null;
      readonly summary: string;
      readonly rest: readonly unknown[];
    }
  | { readonly do: "extract"; readonly leaf: Place }
  | { readonly do: "reopen"; readonly cwd?: string }
  | { readonly do: "switch"; readonly file: number }
  | { readonly do: "folder"; readonly cwd: string }
  | { readonly do: "recent" }
  | { readonly do: "fork" }
  | { readonly do: "adopt" }
  | { readonly do: "new"; readonly isChild: boolean; readonly id?: string }
  | { readonly do: "ask"; readonly about: Place };

/** An operation and how much later than the one before it happens. */
export interface Step {
  readonly operation: Operation;
  readonly laterMs: number;
}

/** What a process does with a fresh directory. */
export interface Script {
  readonly nowMs: number;
  readonly steps: readonly Step[];
  /** A session file to open first; otherwise the session is new. `$ROOT` in it is the directory. */
  readonly stored?: string;
  /** Whether that file is forked, without opening it before. */
  readonly isForked?: boolean;
  /** Whether that file is of an old version, and rewritten before it is continued. */
  readonly isOld?: boolean;
  readonly isInMemory?: boolean;
}

/** What became of a script, as JSON: what each step gave, and everything that is left. */
export interface Report {
  readonly root: string;
  readonly steps: readonly unknown[];
  readonly end: unknown;
}
