/**
 * The records of a session file in version 3, under pi's names. Types only: entries of other types,
 * or with missing fields, are returned as stored; see {@link isKnownEntry}. Undefined keys are
 * absent on disk.
 */
import type {
  AgentMessage,
  ContentBlock,
  SystemMessage,
  Usage,
  UserContent,
} from "./message-types.ts";

/** The first record of a log, not part of the tree. Unknown keys are kept. */
export interface SessionHeader {
  readonly type: "session";
  /** Absent in v1; 3 in new files. */
  readonly version?: number | undefined;
  /** A UUIDv7 in new files; any string in older or custom ones. */
  readonly id: string;
  /** ISO 8601 in UTC, with milliseconds. */
  readonly timestamp: string;
  readonly cwd: string;
  /** Absolute path of the log that this one was forked from; it may be missing. */
  readonly parentSession?: string | undefined;
  /** omp only: the name at creation. Later names are stored elsewhere. */
  readonly title?: string | undefined;
  /** v1 only, before pi 0.31.0: now `parentSession`. Not migrated by pi. */
  readonly branchedFrom?: string | undefined;
  /** v1 only: the model at the start. */
  readonly provider?: string | undefined;
  /** v1 only: the model at the start. */
  readonly modelId?: string | undefined;
  /** v1 only: the thinking level at the start. */
  readonly thinkingLevel?: string | undefined;
}

/** What every entry has. */
export interface SessionEntryBase {
  readonly type: string;
  /** Unique in its log; usually 8 hex digits, but any string is valid. Since v2. */
  readonly id: string;
  /** Null for a root. Since v2. */
  readonly parentId: string | null;
  /** ISO 8601 in UTC, with milliseconds. */
  readonly timestamp: string;
}

/** A message of the conversation. Since v1. */
export interface SessionMessageEntry extends SessionEntryBase {
  readonly type: "message";
  /** As stored: may have an unknown role. */
  readonly message: AgentMessage;
}

/** The thinking level from here on. Since v1. */
export interface ThinkingLevelChangeEntry extends SessionEntryBase {
  readonly type: "thinking_level_change";
  /** A `ThinkingLevel` as a rule. */
  readonly thinkingLevel: string;
}

/** The model from here on. Since v1. omp stores `model` instead of pi's two fields. */
export interface ModelChangeEntry extends SessionEntryBase {
  readonly type: "model_change";
  readonly provider: string;
  readonly modelId: string;
  /** omp: `provider/modelId`. */
  readonly model?: string | undefined;
  /** omp: the purpose of the model; absent: the conversation, as `default`. */
  readonly role?: string | undefined;
}

/** A summary that replaces what came before for the model. Since v1. */
export interface CompactionEntry<T = unknown> extends SessionEntryBase {
  readonly type: "compaction";
  readonly summary: string;
  /**
   * The first earlier entry that the model still sees; its own id keeps none. Absent if a v1 file
   * (`firstKeptEntryIndex`) pointed nowhere.
   */
  readonly firstKeptEntryId: string;
  readonly tokensBefore: number;
  /** `{ readFiles, modifiedFiles }` by default; extensions store anything. Since v2. */
  readonly details?: T | undefined;
  /** What the summary cost. Since pi 0.81.0. */
  readonly usage?: Usage | undefined;
  /** True if an extension made it. Since v2. */
  readonly fromHook?: boolean | undefined;
  /** The system messages so far, folded into one. Since pi 0.86.0. */
  readonly systemMessage?: SystemMessage | undefined;
  /** omp: for the user interface. */
  readonly shortSummary?: string | undefined;
  /** omp: what `fromHook` is in pi. */
  readonly fromExtension?: boolean | undefined;
  /** omp: the last entry covered by a provider's replay in `preserveData`. */
  readonly providerReplayThroughEntryId?: string | undefined;
  /** omp: state that extensions keep across the compaction. */
  readonly preserveData?: Readonly<Record<string, unknown>> | undefined;
}

/** A summary of a branch that was left. Since v2. */
export interface BranchSummaryEntry<T = unknown> extends SessionEntryBase {
  readonly type: "branch_summary";
  /**
   * The leaf that was left, or `"root"`; before pi 0.84.3 the new leaf. Files do not say which: do
   * not rely on it.
   */
  readonly fromId: string;
  readonly summary: string;
  /** `{ readFiles, modifiedFiles }` by default; extensions store anything. */
  readonly details?: T | undefined;
  /** What the summary cost. Since pi 0.81.0. */
  readonly usage?: Usage | undefined;
  /** True if an extension made it. */
  readonly fromHook?: boolean | undefined;
  /** omp: what `fromHook` is in pi. */
  readonly fromExtension?: boolean | undefined;
}

/** State of an extension, which the model never sees. Since v2. */
export interface CustomEntry<T = unknown> extends SessionEntryBase {
  readonly type: "custom";
  /** Names the extension. */
  readonly customType: string;
  readonly data?: T | undefined;
}

/** A message of an extension, which the model sees. Since v2. */
export interface CustomMessageEntry<T = unknown> extends SessionEntryBase {
  readonly type: "custom_message";
  /** Names the extension. */
  readonly customType: string;
  readonly content: string | UserContent[];
  /** Whether the user interface shows it; the model gets it either way. */
  readonly display: boolean;
  /** For the extension; never sent to a model. */
  readonly details?: T | undefined;
  /** omp: the author of the message. */
  readonly attribution?: "user" | "agent" | undefined;
}

/** A bookmark on an entry. The latest per target wins. Since v2. */
export interface LabelEntry extends SessionEntryBase {
  readonly type: "label";
  readonly targetId: string;
  /** Absent or empty: the label is cleared. */
  readonly label?: string | undefined;
}

/** The name of the session. The latest in the file wins. Since pi 0.44.0. */
export interface SessionInfoEntry extends SessionEntryBase {
  readonly type: "session_info";
  /** Empty: the name is cleared. Absent in foreign files only. */
  readonly name?: string | undefined;
}

/** A cost outside the conversation, such as keeping a cache warm. Since pi 0.86.0. */
export interface UsageEntry extends SessionEntryBase {
  readonly type: "usage";
  /** What it was for, for instance `cache_warming`. */
  readonly kind: string;
  readonly provider: string;
  readonly model: string;
  readonly usage: Usage;
  readonly note?: string | undefined;
}

/** Replaces the content of the target; null hides it. */
export interface ContextEditReplacement {
  readonly content: string | ContentBlock[];
}

/** Changes what the model sees of an earlier entry of the branch. Since pi 0.87.0. */
export interface ContextEditEntry extends SessionEntryBase {
  readonly type: "context_edit";
  readonly targetId: string;
  readonly replacement: ContextEditReplacement | null;
}

/** Every entry that this version knows, distinguished by `type`. */
export type SessionEntry =
  | SessionMessageEntry
  | ThinkingLevelChangeEntry
  | ModelChangeEntry
  | CompactionEntry
  | BranchSummaryEntry
  | CustomEntry
  | CustomMessageEntry
  | LabelEntry
  | SessionInfoEntry
  | UsageEntry
  | ContextEditEntry;

/**
 * An entry of an unknown type: a node like any other, kept as stored. Not part of {@link
 * SessionEntry}: a `type` of type string would prevent narrowing by known types.
 */
export interface UnknownEntry extends SessionEntryBase {
  readonly [key: string]: unknown;
}

/** Any entry as stored. */
export type AnyEntry = SessionEntry | UnknownEntry;

/** A record that pi knows, as parsing a file gives it. */
export type FileEntry = SessionHeader | SessionEntry;

const knownTypes = {
  message: true,
  thinking_level_change: true,
  model_change: true,
  compaction: true,
  branch_summary: true,
  custom: true,
  custom_message: true,
  label: true,
  session_info: true,
  usage: true,
  context_edit: true,
} satisfies Record<SessionEntry["type"], true>;

export const knownEntryTypes: readonly string[] = Object.keys(knownTypes);

export function isKnownEntryType(type: string): type is SessionEntry["type"] {
  return Object.hasOwn(knownTypes, type);
}

/** Whether the type is one of {@link SessionEntry}; the other fields are not checked. */
export function isKnownEntry(entry: AnyEntry): entry is SessionEntry {
  return isKnownEntryType(entry.type);
}
