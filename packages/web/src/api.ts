/**
 * The protocol between the server and the page, typed once. Every answer is JSON of these types;
 * `/api/events` and `/api/search` are streams of them. Times are epoch milliseconds. Types only.
 */

import type { SectionFacts, ToolUse, Usage } from "@branchlog/library/conversation";

/**
 * `GET /api/session/KEY/turns/place?row=N`, without `row` the end of the leaf's branch; then with
 * the `tip` of that place `…/outline?from=N&count=M&tip=ROW` and `…/timeline?tip=ROW`.
 * `GET /api/session/KEY/compare?from=ROW&to=ROW`: the branches with two entries.
 */
export type {
  BranchComparison,
  BranchPoint,
  BranchWay,
  ComparedBranch,
  ComparedTurn,
  OutlineLine,
  OutlinePage,
  Timeline,
  TimelinePoint,
  TurnHead,
  TurnPlace,
  Usage,
} from "@branchlog/library/conversation";

/** `GET /api/sessions`: latest change first. */
export interface SessionList {
  readonly sessions: readonly SessionItem[];
  /** Whether `POST` requests are allowed: the server was started with `--write`. */
  readonly canWrite: boolean;
  /** Whether all directories were read; else more sessions come, as events say. */
  readonly isComplete: boolean;
}

export interface SessionItem {
  /** Names the session in every other request; never a path. */
  readonly key: string;
  readonly path: string;
  readonly id: string;
  readonly name: string | null;
  /** The first text of a user. */
  readonly firstMessage: string | null;
  /** The first one that is not a command of the agent; its start. */
  readonly firstPrompt: string | null;
  /** Its name. */
  readonly agent: string;
  readonly cwd: string;
  readonly modifiedMs: number;
  readonly sizeBytes: number;
  readonly messageCount: number;
  /** Input and output; null: unknown. */
  readonly tokens: number | null;
  readonly models: readonly string[];
  /** The session that it was forked from, or whose subagent it is; null: none in the list. */
  readonly parentKey: string | null;
  readonly isSubagent: boolean;
  /** Whether it is in the archive: it is listed, but cannot be opened before it is restored. */
  readonly isArchived: boolean;
  /** Null: unknown. */
  readonly activity: SessionActivity | null;
  /** US dollars; null: unknown. */
  readonly cost: number | null;
  /** Whether a part of the cost is from list prices. */
  readonly isEstimate: boolean;
}

export interface SessionActivity {
  readonly turns: number;
  /** Entries without children. */
  readonly branchCount: number;
  readonly startedMs: number | null;
  /** The sum of all pauses of at most 5 minutes. */
  readonly activeMs: number;
  /** Entries in equal parts of the time since the start, at most 24. */
  readonly counts: readonly number[];
  readonly partMs: number;
}

/** `GET /api/archived`: sessions that were below the place and are archived, latest first. */
export interface ArchivedList {
  readonly sessions: readonly SessionItem[];
}

/** `POST /api/archive`; only with `--write`. */
export interface ArchiveRequest {
  readonly kind: "archive" | "restore";
  readonly keys: readonly string[];
}

export interface ArchiveResult {
  readonly done: number;
  /** Why others were not changed. */
  readonly failures: readonly string[];
  readonly message: string;
}

/** `GET /api/session/KEY`: the facts above its conversation; with `?tree=1` above its rows. */
export interface SessionFacts {
  readonly item: SessionItem;
  /** Changes when the file was replaced: then all rows are different. */
  readonly generation: number;
  /** Number of entries, which is also the number of rows. */
  readonly rowCount: number;
  readonly leafId: string | null;
  /** Row of the leaf; null: there is none. */
  readonly leafRow: number | null;
  readonly labels: readonly LabelItem[];
  /** Null: unknown yet, and not requested. */
  readonly tree: TreeFacts | null;
  /** A command line that continues the session in its agent. */
  readonly resume: string | null;
  /** Sums of all branches; a cost of null is unknown. */
  readonly usage: Usage | null;
  /** One sentence for each kind of damage or oddity; empty: none. */
  readonly findings: readonly string[];
  readonly canWrite: boolean;
}

export interface TreeFacts {
  /** Number of entries without children. */
  readonly tipCount: number;
  /** Lanes that any row needs, at least 1. */
  readonly laneCount: number;
  /** Rows at which several branches continue, in order, at most 1,000. */
  readonly branchRows: readonly number[];
}

export interface LabelItem {
  readonly row: number;
  readonly id: string;
  readonly label: string;
}

/** `GET /api/session/KEY/rows?from=N&count=M`: rows in the order of the file, at most 500. */
export interface RowPage {
  readonly generation: number;
  readonly rowCount: number;
  readonly from: number;
  readonly rows: readonly Row[];
}

/** One entry in the list of a session, with the piece of the tree that is drawn next to it. */
export interface Row {
  readonly row: number;
  readonly id: string;
  readonly type: string;
  readonly role: string | null;
  readonly timeMs: number;
  readonly label: string | null;
  /** One line of text; empty for an entry without any. */
  readonly text: string;
  /** Names of called tools, or the tool of a result. */
  readonly tools: readonly string[];
  readonly isLeaf: boolean;
  /** Whether it is on the path from the root to the leaf. */
  readonly isOnPath: boolean;
  readonly isError: boolean;
  /** Whether its line is damaged: its text is not shown. */
  readonly isDamaged: boolean;
  readonly lanes: RowLanes;
}

/** The lanes at one row. A line per lane; lanes count from 0, which is leftmost. */
export interface RowLanes {
  /** The lane of the entry itself. */
  readonly lane: number;
  /** Whether a line comes from above into the entry, in its lane. */
  readonly up: boolean;
  /** Whether its first child continues in its lane, below. */
  readonly down: boolean;
  /** Lanes of further children, and of a parent below: a curve to each, which then goes down. */
  readonly forks: readonly number[];
  /** Other lanes whose lines pass this row. */
  readonly passing: readonly number[];
  /** Lanes of children that are above: a curve from each, which came down, into the entry. */
  readonly joins?: readonly number[];
}

/** `GET /api/session/KEY/place?id=ID`, `?label=L`, `?leaf=1`: where an entry is. */
export interface EntryPlace {
  readonly row: number;
  readonly id: string;
}

/** `GET /api/session/KEY/entry/ROW`, with `?full=1` nothing is shortened. */
export interface EntryView {
  readonly row: Row;
  readonly parentId: string | null;
  readonly parentRow: number | null;
  readonly childRows: readonly number[];
  readonly model: string | null;
  readonly usage: Usage | null;
  readonly blocks: readonly TurnBlock[];
  /** The stored line, truncated after 64 Ki characters unless `full`. */
  readonly raw: string;
  readonly isCut: boolean;
}

/** `GET /api/session/KEY/context?row=N`: the context of the model there. */
export interface ContextView {
  readonly row: number | null;
  readonly messages: readonly ContextMessage[];
  readonly model: string | null;
  readonly thinkingLevel: string;
  /** Whether a part above is missing, or only partly known. */
  readonly isApproximate: boolean;
}

export interface ContextMessage {
  readonly role: string;
  readonly blocks: readonly TurnBlock[];
  /** Estimated: four characters each. */
  readonly tokens: number;
}

/**
 * `GET /api/search?q=TEXT&regex=1&key=KEY`, with any of `agent`, `project`, `kind`, `role`, `tool`,
 * `since` (epoch ms): a line of JSON a hit, as it is found.
 */
export interface SearchHitItem {
  readonly key: string;
  readonly title: string;
  readonly agent: string;
  /** The working directory; empty: unknown. */
  readonly project: string;
  readonly entryId: string;
  readonly kind: string;
  /** Of a message. */
  readonly role: string | null;
  /** Of a call or a result. */
  readonly tool: string | null;
  readonly timeMs: number | null;
  readonly before: string;
  readonly match: string;
  readonly after: string;
}

/** The last line of a search that did not fail; else it is an {@link ApiError}. */
export interface SearchEnd {
  readonly hits: number;
  readonly searched: number;
}

export type CostGrouping = "project" | "day" | "model" | "agent" | "session" | "turn";

/** Filters of the costs; without one, all. */
export interface CostFilter {
  /** Of the local time zone, as `2026-01-05`. */
  readonly day?: string;
  /** The key of a session, with its subagents. */
  readonly session?: string;
}

/** `GET /api/costs?by=GROUPING&day=DAY&session=KEY`. */
export interface CostTable {
  readonly by: CostGrouping;
  readonly total: CostRow;
  /** At most 500; the most expensive first, and days in their order. */
  readonly rows: readonly CostRow[];
  /** How many rows were omitted. */
  readonly leftOut: number;
  /** Each day of the whole filter but its day, in order. */
  readonly days: readonly DayCosts[];
  /** The ten most expensive turns. */
  readonly turns: readonly CostRow[];
}

export interface DayCosts {
  readonly day: string;
  /** US dollars by model, estimates included. */
  readonly models: Readonly<Record<string, number>>;
}

export interface CostRow extends Usage {
  readonly name: string;
  readonly turns: number;
  /** Answers whose price is unknown. */
  readonly unpriced: number;
  /** `cost`, and list prices for the rest; null: unknown. */
  readonly estimated: number | null;
  /** Answers that have neither. */
  readonly unestimated: number;
  /** Of a session or a turn: where it is. */
  readonly key: string | null;
  /** Of a turn: its prompt. */
  readonly entryId: string | null;
  /** Of a turn. Epoch ms. */
  readonly timeMs: number | null;
}

/** `GET /api/events?key=KEY`: the events of one page, as server-sent events with these as data. */
export type ServerEvent =
  /** The list changed: the items that are new or changed, and the keys that are gone. */
  | {
      readonly kind: "sessions";
      readonly changed: readonly SessionItem[];
      readonly removed: readonly string[];
      readonly isComplete: boolean;
    }
  /** The session of the page grew, was replaced, or its leaf or labels changed. */
  | {
      readonly kind: "session";
      readonly key: string;
      readonly generation: number;
      readonly rowCount: number;
      readonly leafId: string | null;
    }
  | { readonly kind: "gone"; readonly key: string; readonly message: string };

/** `POST /api/session/KEY/change`; only with `--write`. */
export type Change =
  | { readonly kind: "label"; readonly id: string; readonly label: string }
  | { readonly kind: "name"; readonly name: string }
  | { readonly kind: "fork"; readonly id: string }
  | { readonly kind: "delete" };

/** The result of a change: of a fork the new session, if it is in the list. */
export interface ChangeResult {
  readonly message: string;
  readonly key: string | null;
}

/** `GET /api/session/KEY/turns?from=N&count=M&tip=ROW`: sections of a conversation, at most 40. */
export interface TurnPage {
  readonly generation: number;
  readonly sectionCount: number;
  readonly turnCount: number;
  readonly from: number;
  readonly sections: readonly TurnSection[];
}

export interface TurnSection extends SectionFacts {
  readonly blocks: readonly TurnBlock[];
}

/** `row`: its entry, -1 in a context; `cut`: how many characters of the text are missing. */
export type TurnBlock = { readonly row: number } & (
  | {
      readonly kind: "prompt" | "answer" | "thinking" | "error";
      readonly text: string;
      readonly cut: number;
    }
  | {
      readonly kind: "call";
      readonly tool: string;
      readonly use: ToolUse;
      /** Its subject, on one line. */
      readonly line: string;
      readonly result: CallOutcome | null;
    }
  | {
      readonly kind: "note";
      readonly title: string;
      readonly text: string;
      readonly cut: number;
      readonly isError: boolean;
      /** Whether a tool produced it: it is not Markdown. */
      readonly isOutput: boolean;
    }
  | {
      readonly kind: "compaction" | "branchSummary";
      readonly text: string;
      readonly cut: number;
      /** 0: unknown. */
      readonly tokensBefore: number;
    }
  | ShownImage
  /** Indented JSON: values without a view. */
  | { readonly kind: "data"; readonly title: string; readonly text: string; readonly cut: number }
  | { readonly kind: "mark"; readonly title: string; readonly text: string }
);

/** `source` is a `data:` address of an allowed type of image, or empty if it is too large. */
export interface ShownImage {
  readonly kind: "image";
  readonly source: string;
  readonly sizeBytes: number;
}

export interface CallOutcome {
  readonly row: number;
  readonly isError: boolean;
  /** Of a command; null: unknown. */
  readonly exitCode: number | null;
  readonly durationMs: number | null;
  readonly text: string;
  readonly cut: number;
  readonly images: readonly ShownImage[];
}

// `GET /api/session/KEY/share?from=ROW&to=ROW`: the entries of a branch from one to another as a
// file of HTML, without secrets and images.

/** The body of every answer except success. */
export interface ApiError {
  readonly code: string;
  readonly message: string;
}
