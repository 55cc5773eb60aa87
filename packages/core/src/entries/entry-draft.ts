/**
 * What a caller wants appended: an entry without id, parentId and timestamp, which the log gives it
 * under its lock. A draft is read once, when it is encoded; changing it later changes nothing.
 */
import type { Usage, UserContent } from "./content-types.ts";
import type { ContextEditReplacement } from "./entry-types.ts";
import type { AgentMessage, SystemMessage } from "./message-types.ts";

/** What no draft has: the log decides on these. Present at run time: `ERR_INVALID_ARGUMENT`. */
export interface DraftBase {
  readonly id?: never;
  readonly parentId?: never;
  readonly timestamp?: never;
}

/** A message; its role may be one that this version does not know. */
export interface MessageDraft extends DraftBase {
  readonly type: "message";
  readonly message: AgentMessage;
}

/** A change of the thinking level. */
export interface ThinkingLevelChangeDraft extends DraftBase {
  readonly type: "thinking_level_change";
  readonly thinkingLevel: string;
}

/** A change of the model. */
export interface ModelChangeDraft extends DraftBase {
  readonly type: "model_change";
  readonly provider: string;
  readonly modelId: string;
}

/** A summary in place of what came before. */
export interface CompactionDraft extends DraftBase {
  readonly type: "compaction";
  readonly summary: string;
  /** Null keeps nothing: the entry's own id is stored, once it has one. */
  readonly firstKeptEntryId: string | null;
  readonly tokensBefore: number;
  readonly details?: unknown;
  readonly usage?: Usage | undefined;
  readonly fromHook?: boolean | undefined;
  readonly systemMessage?: SystemMessage | undefined;
}

/** A summary of the branch that is being left. */
export interface BranchSummaryDraft extends DraftBase {
  readonly type: "branch_summary";
  readonly fromId: string;
  readonly summary: string;
  readonly details?: unknown;
  readonly usage?: Usage | undefined;
  readonly fromHook?: boolean | undefined;
}

/** State of an extension. */
export interface CustomDraft extends DraftBase {
  readonly type: "custom";
  readonly customType: string;
  readonly data?: unknown;
}

/** A message of an extension. */
export interface CustomMessageDraft extends DraftBase {
  readonly type: "custom_message";
  readonly customType: string;
  readonly content: string | readonly UserContent[];
  readonly display: boolean;
  readonly details?: unknown;
}

/** A bookmark; without a label, or with an empty one, it is cleared. */
export interface LabelDraft extends DraftBase {
  readonly type: "label";
  readonly targetId: string;
  readonly label?: string | undefined;
}

/** The name of the session, written as given; see `normalizeName`. Empty clears it. */
export interface SessionInfoDraft extends DraftBase {
  readonly type: "session_info";
  readonly name: string;
}

/** A cost beside the conversation. */
export interface UsageDraft extends DraftBase {
  readonly type: "usage";
  readonly kind: string;
  readonly provider: string;
  readonly model: string;
  readonly usage: Usage;
  readonly note?: string | undefined;
}

/** A change of what the model sees of an earlier entry. */
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

/** A draft of any other type, written with its fields in their order. Not the type `session`. */
export interface UnknownDraft extends DraftBase {
  readonly type: string;
  readonly [key: string]: unknown;
}

/**
 * Any draft. Because of {@link UnknownDraft} a misspelt field of a known type passes the compiler,
 * and is refused as it is appended: `ERR_INVALID_ARGUMENT`. To hear of it from the compiler, say
 * `satisfies KnownDraft`.
 */
export type EntryDraft = KnownDraft | UnknownDraft;
