/**
 * `@branchlog/library/conversation`: the shown form of a conversation, for all views. Types only,
 * without Node, so that a page can use them. Times are epoch milliseconds.
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

/** The kind of a call, independent of the name of its tool. */
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

export interface Usage {
  readonly requests: number;
  readonly input: number;
  readonly output: number;
  readonly cacheRead: number;
  readonly cacheWrite: number;
  /** US dollars; null: unknown. */
  readonly cost: number | null;
}

/** Where an entry is in the conversation of a branch that has it. */
export interface TurnPlace {
  readonly generation: number;
  /** The last entry of that branch; null: of the leaf's. */
  readonly tip: number | null;
  readonly section: number;
  readonly turn: number;
  readonly sectionCount: number;
  readonly turnCount: number;
}

/** A turn, or a part of a long one. */
export interface SectionFacts {
  readonly section: number;
  readonly turn: number;
  /** The section that its turn begins with. */
  readonly turnSection: number;
  /** Rows of its first and last entry. */
  readonly firstRow: number;
  readonly lastRow: number;
  readonly entryCount: number;
  readonly isLast: boolean;
  /** The first line of the prompt of its turn; empty: it has none. */
  readonly prompt: string;
  /** Of the first section of a turn. */
  readonly head: TurnHead | null;
  readonly branches: readonly BranchPoint[];
}

export interface TurnHead {
  readonly startedMs: number;
  readonly durationMs: number;
  readonly entryCount: number;
  /** The row of its last entry. */
  readonly lastRow: number;
  readonly calls: number;
  readonly errors: number;
  readonly files: readonly TouchedFile[];
  readonly models: readonly string[];
  readonly usage: Usage;
  /** Whether its cost, or a part of it, is by list prices. */
  readonly isEstimate: boolean;
  /** Whether the turn is so long that errors, files and usage are of its beginning. */
  readonly isPartial: boolean;
}

/** Where the conversation branches; `row` is the entry before; -1: none. */
export interface BranchPoint {
  readonly row: number;
  /** In the order of the file, at most 20, the shown one among them. */
  readonly ways: readonly BranchWay[];
  readonly wayCount: number;
}

export interface BranchWay {
  /** Its first entry. */
  readonly row: number;
  /** The first line of its first prompt or answer. */
  readonly title: string;
  readonly turns: number;
  readonly entries: number;
  /** US dollars; null: unknown. */
  readonly cost: number | null;
  /** Whether there are more turns and entries than were counted. */
  readonly isMore: boolean;
  readonly isShown: boolean;
  readonly isOnPath: boolean;
}

/** Turns as lines, at most 200. */
export interface OutlinePage {
  readonly generation: number;
  readonly turnCount: number;
  readonly from: number;
  readonly lines: readonly OutlineLine[];
}

export interface OutlineLine {
  readonly turn: number;
  readonly section: number;
  readonly row: number;
  readonly text: string;
  readonly timeMs: number;
  readonly label: string | null;
  /** Other branches that begin within it, at most 20: their first entries. */
  readonly branches: readonly { readonly row: number; readonly title: string }[];
  readonly branchCount: number;
  readonly hasCompaction: boolean;
}

/** How full the context was along a branch. */
export interface Timeline {
  readonly generation: number;
  readonly sectionCount: number;
  /** Answers, at most about 300, in their order. */
  readonly points: readonly TimelinePoint[];
  /** The latest 100. */
  readonly compactions: readonly { readonly section: number; readonly row: number }[];
}

export interface TimelinePoint {
  readonly section: number;
  readonly row: number;
  readonly timeMs: number;
  /** The context of the model, in tokens; null: unknown. */
  readonly tokens: number | null;
  readonly isError: boolean;
}

/** Two branches: the common part, and how each continues. */
export interface BranchComparison {
  readonly generation: number;
  readonly common: {
    readonly entryCount: number;
    readonly turnCount: number;
    /** The latest ones. */
    readonly turns: readonly { readonly row: number; readonly prompt: string }[];
  };
  readonly branches: readonly [ComparedBranch, ComparedBranch];
}

export interface ComparedBranch {
  /** Its first entry that the other one does not have, and its last; -1: there is none. */
  readonly row: number;
  readonly lastRow: number;
  readonly turnCount: number;
  /** Of all its turns. */
  readonly sums: TurnHead;
  /** The first ones. */
  readonly turns: readonly ComparedTurn[];
}

export interface ComparedTurn {
  readonly row: number;
  /** The first line of its prompt; empty: the branch begins within a turn. */
  readonly prompt: string;
  /** The first line of its last answer. */
  readonly answer: string;
  readonly head: TurnHead;
}
