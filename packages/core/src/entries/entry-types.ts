/**
 * The records of a session file, under pi's names: the header and every entry of the tree, in the
 * form of version 3. Types only: an entry of another type, or with missing fields, is handed out as
 * stored; tell it apart with {@link isKnownEntry}. Optional keys are absent on disk when undefined.
 */
import { nearestName } from "@branchlog/streaming";
import { invalidArgument, shown } from "../argument-checks.ts";
import type { DraftFields } from "./encode-entry.ts";
import type {
  AgentMessage,
  ContentBlock,
  SystemMessage,
  Usage,
  UserContent,
} from "./message-types.ts";
import { isOmpEntryType, ompEntryTypes } from "./omp-entry-types.ts";

/** The first record of a log. Not part of the tree. Unknown keys are kept as stored. */
export interface SessionHeader {
  readonly type: "session";
  /** Absent in v1; 3 in everything written today. */
  readonly version?: number | undefined;
  /** The id of the session: a UUIDv7 today, but any string in older or custom files. */
  readonly id: string;
  /** ISO 8601 in UTC, with milliseconds. */
  readonly timestamp: string;
  /** The working directory of the session. */
  readonly cwd: string;
  /** Absolute path of the log that this one was forked from. It may be gone. */
  readonly parentSession?: string | undefined;
  /** omp only: the name of the session when it was created. Later names are stored elsewhere. */
  readonly title?: string | undefined;
  /** v1 only, before pi 0.31.0: what is `parentSession` now. Not migrated by pi. */
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
  /** Unique in its log. 8 hex digits as a rule; any string must be accepted. Since v2. */
  readonly id: string;
  /** The entry that this one follows; null for a root. Since v2. */
  readonly parentId: string | null;
  /** ISO 8601 in UTC, with milliseconds. */
  readonly timestamp: string;
}

/** One message of the conversation. Since v1. */
export interface SessionMessageEntry extends SessionEntryBase {
  readonly type: "message";
  /** As stored: foreign files may hold other roles, see `isKnownMessage`. */
  readonly message: AgentMessage;
}

/** The thinking level from here on. Since v1. */
export interface ThinkingLevelChangeEntry extends SessionEntryBase {
  readonly type: "thinking_level_change";
  /** A `ThinkingLevel` as a rule. */
  readonly thinkingLevel: string;
}

/** The model from here on. Since v1. Logs of omp hold `model` instead of the two fields of pi. */
export interface ModelChangeEntry extends SessionEntryBase {
  readonly type: "model_change";
  readonly provider: string;
  readonly modelId: string;
  /** omp: `provider/modelId`. */
  readonly model?: string | undefined;
  /** omp: what the model is for; absent: the conversation, as with `default`. */
  readonly role?: string | undefined;
}

/** A summary that the model gets in place of what came before. Since v1. */
export interface CompactionEntry<T = unknown> extends SessionEntryBase {
  readonly type: "compaction";
  readonly summary: string;
  /**
   * The first earlier entry that the model still sees; the own id keeps none. Absent when a v1 file
   * pointed nowhere (v1 stored `firstKeptEntryIndex`, an index of lines).
   */
  readonly firstKeptEntryId: string;
  readonly tokensBefore: number;
  /** `{ readFiles, modifiedFiles }` by default; extensions store anything. Since v2. */
  readonly details?: T | undefined;
  /** What the summary cost. Since pi 0.81.0. */
  readonly usage?: Usage | undefined;
  /** True if an extension made it. Since v2. */
  readonly fromHook?: boolean | undefined;
  /** The system messages up to here, folded into one. Since pi 0.86.0. */
  readonly systemMessage?: SystemMessage | undefined;
  /** omp: the summary in few words, for the user interface. */
  readonly shortSummary?: string | undefined;
  /** omp: what `fromHook` is in pi. */
  readonly fromExtension?: boolean | undefined;
  /** omp: the last entry that a provider's own replay, in `preserveData`, covers. */
  readonly providerReplayThroughEntryId?: string | undefined;
  /** omp: what extensions keep across the compaction. */
  readonly preserveData?: Readonly<Record<string, unknown>> | undefined;
}

/** A summary of a branch that was left. Since v2. */
export interface BranchSummaryEntry<T = unknown> extends SessionEntryBase {
  readonly type: "branch_summary";
  /**
   * The leaf that was left, or `"root"`; before pi 0.84.3 the entry that was gone to. Files do not
   * say which, so do not rely on it.
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

/** A bookmark on an entry. The latest for a target wins. Since v2. */
export interface LabelEntry extends SessionEntryBase {
  readonly type: "label";
  readonly targetId: string;
  /** Absent or empty: the label is cleared. */
  readonly label?: string | undefined;
}

/** Facts about the session, for now its name. The latest in the file wins. Since pi 0.44.0. */
export interface SessionInfoEntry extends SessionEntryBase {
  readonly type: "session_info";
  /** Empty: the name is cleared. Absent in foreign files only. */
  readonly name?: string | undefined;
}

/** A cost beside the conversation, such as keeping a cache warm. Since pi 0.86.0. */
export interface UsageEntry extends SessionEntryBase {
  readonly type: "usage";
  /** What it was for, for instance `cache_warming`. */
  readonly kind: string;
  readonly provider: string;
  readonly model: string;
  readonly usage: Usage;
  readonly note?: string | undefined;
}

/** What a context edit puts in place of the content of its target; null hides the target. */
export interface ContextEditReplacement {
  readonly content: string | ContentBlock[];
}

/** Changes what the model sees of an earlier entry of the branch. Since pi 0.87.0. */
export interface ContextEditEntry extends SessionEntryBase {
  readonly type: "context_edit";
  readonly targetId: string;
  readonly replacement: ContextEditReplacement | null;
}

/** Every entry that this version knows, told apart by `type`. */
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
 * An entry of a type that this version does not know. It is a node of the tree like any other, kept
 * as stored, and never rewritten. Not part of {@link SessionEntry}: a `type` of type string in that
 * union would stop it from being narrowed by the types that are known.
 */
export interface UnknownEntry extends SessionEntryBase {
  readonly [key: string]: unknown;
}

/** Any entry as stored. */
export type AnyEntry = SessionEntry | UnknownEntry;

/** Any record that pi knows: what parsing a file gives, line by line. */
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

/** The types of {@link SessionEntry}. */
export const knownEntryTypes: readonly string[] = Object.keys(knownTypes);

/** Whether `type` is one of {@link SessionEntry}. */
export function isKnownEntryType(type: string): type is SessionEntry["type"] {
  return Object.hasOwn(knownTypes, type);
}

/** Whether the type is one of {@link SessionEntry}; the other fields are not checked. */
export function isKnownEntry(entry: AnyEntry): entry is SessionEntry {
  return isKnownEntryType(entry.type);
}

// Named types: those of pi, those of omp, and any type in a namespace of its own. Every other type
// is unknown: its entries are kept, but no model sees them, as with a misspelt type, which is
// therefore refused before it is stored. Pure.

/** Text before a colon, the namespace, and text behind it. */
const namespacedForm = /^[^:]+:./su;

/** Whether pi or omp writes entries of that type, or it is a name in a namespace. */
export function isNamedType(type: string): boolean {
  return isKnownEntryType(type) || isOmpEntryType(type) || namespacedForm.test(type);
}

/** The type of pi or omp that was probably meant; undefined if none is near. */
export function nearestType(type: string): string | undefined {
  return nearestName(type, [...knownEntryTypes, ...ompEntryTypes]);
}

/**
 * The draft, if its type is a named one.
 * @throws BranchlogError `ERR_INVALID_ARGUMENT`, with the nearest type there is.
 */
export function requireNamedType(draft: DraftFields): DraftFields {
  const { type } = draft;
  if (isNamedType(type)) return draft;
  const nearest = nearestType(type);
  const meant = nearest === undefined ? "" : ` Did you mean "${nearest}"?`;
  throw invalidArgument(
    `The type of entry ${shown(type)} is unknown; nothing was written.${meant} ` +
      'A type of your own needs a namespace, as "x:note" has, or allowUnknownType: true ' +
      "(branchlog append --allow-unknown-type)",
  );
}
