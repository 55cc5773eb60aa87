/**
 * A draft: an entry without id, parentId and timestamp, which the log assigns under its lock. It is
 * read once, when it is encoded; later changes have no effect.
 */
import type { JsonObject } from "@branchlog/streaming";
import type { ContextEditReplacement } from "./entry-types.ts";
import type { AgentMessage, SystemMessage, Usage, UserContent } from "./message-types.ts";
import type { OmpEntryType } from "./omp-entry-types.ts";
import type { Reference } from "./references.ts";

/** Assigned by the log. Present at run time: `ERR_INVALID_ARGUMENT`. */
interface DraftBase {
  readonly id?: never;
  readonly parentId?: never;
  readonly timestamp?: never;
}

/** The role may be unknown to this version. */
interface MessageDraft extends DraftBase {
  readonly type: "message";
  readonly message: AgentMessage;
}

interface ThinkingLevelChangeDraft extends DraftBase {
  readonly type: "thinking_level_change";
  /** omp: null for the level of the settings. */
  readonly thinkingLevel: string | null;
  /** omp: what the user chose, `auto` or a level. */
  readonly configured?: string | null | undefined;
}

interface ModelChangeDraft extends DraftBase {
  readonly type: "model_change";
  readonly provider: string;
  readonly modelId: string;
}

export interface CompactionDraft extends DraftBase {
  readonly type: "compaction";
  readonly summary: string;
  /** Null keeps nothing: stored as the entry's own id. */
  readonly firstKeptEntryId: string | null;
  readonly tokensBefore: number;
  readonly details?: unknown;
  readonly usage?: Usage | undefined;
  readonly fromHook?: boolean | undefined;
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

export interface BranchSummaryDraft extends DraftBase {
  readonly type: "branch_summary";
  readonly fromId: string;
  readonly summary: string;
  readonly details?: unknown;
  readonly usage?: Usage | undefined;
  readonly fromHook?: boolean | undefined;
  /** omp: what `fromHook` is in pi. */
  readonly fromExtension?: boolean | undefined;
}

interface CustomDraft extends DraftBase {
  readonly type: "custom";
  readonly customType: string;
  readonly data?: unknown;
}

interface CustomMessageDraft extends DraftBase {
  readonly type: "custom_message";
  readonly customType: string;
  readonly content: string | readonly UserContent[];
  readonly display: boolean;
  readonly details?: unknown;
  /** omp: the author of the message. */
  readonly attribution?: "user" | "agent" | undefined;
}

/** A bookmark; absent or empty, the label is cleared. */
interface LabelDraft extends DraftBase {
  readonly type: "label";
  readonly targetId: string;
  readonly label?: string | undefined;
}

/** The name of the session, written as given; see `normalizeName`. Empty clears it. */
interface SessionInfoDraft extends DraftBase {
  readonly type: "session_info";
  readonly name: string;
}

interface UsageDraft extends DraftBase {
  readonly type: "usage";
  readonly kind: string;
  readonly provider: string;
  readonly model: string;
  readonly usage: Usage;
  readonly note?: string | undefined;
}

/** Changes what the model sees of an earlier entry. */
export interface ContextEditDraft extends DraftBase {
  readonly type: "context_edit";
  readonly targetId: string;
  readonly replacement: ContextEditReplacement | null;
}

/** A draft of an entry that this version knows. */
export type KnownDraft =
  | MessageDraft
  | ThinkingLevelChangeDraft
  | ModelChangeDraft
  | CompactionDraft
  | BranchSummaryDraft
  | CustomDraft
  | CustomMessageDraft
  | LabelDraft
  | SessionInfoDraft
  | UsageDraft
  | ContextEditDraft;

/** omp's form of a model change; absent role: that of the conversation. */
export interface OmpModelChangeDraft extends DraftBase {
  readonly type: "model_change";
  readonly model: string;
  readonly role?: string | undefined;
}

/** A draft of a type of omp only. Fields keep their order. */
export interface OmpDraft extends DraftBase {
  readonly type: OmpEntryType;
  readonly [key: string]: unknown;
}

/** A draft of a type of your own. Fields keep their order. */
export interface NamespacedDraft extends DraftBase {
  /** The namespace before the first colon is not empty. */
  readonly type: `${string}:${string}`;
  readonly [key: string]: unknown;
}

/** A draft of a type of pi or omp, or of one in a namespace. */
export type EntryDraft = KnownDraft | OmpModelChangeDraft | OmpDraft | NamespacedDraft;

/**
 * A draft of any type but `session`, fields in their order. Needs the option `allowUnknownType`.
 */
export interface UnknownDraft extends DraftBase {
  readonly type: string;
  readonly [key: string]: unknown;
}

/** Any draft. Missing fields of known types are refused on append. */
export type AnyDraft = EntryDraft | UnknownDraft;

/** The bytes of a draft, without id and parent. */
export interface EncodedDraft {
  readonly type: string;
  /** Of a message that has one. */
  readonly role: string | undefined;
  /** Of a message with content. */
  readonly content: ContentForm | undefined;
  /** The line up to the key `id`, its comma included. */
  readonly before: Buffer;
  /** The line from the comma behind `parentId`, without the newline. */
  readonly after: Buffer;
  /** Offset in `after` of the entry's own id, as a JSON string; -1: nowhere. */
  readonly ownIdAt: number;
  /** As given; also in `after`. */
  readonly timestamp: string;
  readonly references: readonly Reference[];
  /** Its members but type, id, parentId and timestamp; undefined if they have to be parsed. */
  readonly copy: JsonObject | undefined;
}

export type ContentForm = "a text" | "a list" | "another value";

export interface DraftFields {
  readonly type: string;
  readonly fields: Readonly<Record<string, unknown>>;
}

/** Pure: it sees copies of the caller's fields. */
export type DraftTranslation = (draft: DraftFields) => DraftFields;
