/**
 * A draft: an entry without id, parentId and timestamp, which the log assigns under its lock. It is
 * read once, when it is encoded; later changes have no effect.
 */
import type { JsonObject } from "@branchlog/streaming";
import type {
  BranchSummaryEntry,
  CompactionEntry,
  ContextEditEntry,
  CustomEntry,
  CustomMessageEntry,
  LabelEntry,
  ModelChangeEntry,
  SessionEntryBase,
  SessionInfoEntry,
  SessionMessageEntry,
  ThinkingLevelChangeEntry,
  UsageEntry,
} from "./entry-types.ts";
import type { UserContent } from "./message-types.ts";
import type { OmpEntryType } from "./omp-entry-types.ts";
import type { Reference } from "./references.ts";

/** Assigned by the log. Present at run time: `ERR_INVALID_ARGUMENT`. */
interface DraftBase {
  readonly id?: never;
  readonly parentId?: never;
  readonly timestamp?: never;
}

/** The fields of an entry, but those of `Other` as there. */
type DraftOf<Entry extends SessionEntryBase, Other = unknown> = DraftBase &
  Omit<Entry, keyof DraftBase | keyof Other> &
  Other;

export type CompactionDraft = DraftOf<
  CompactionEntry,
  {
    /** Null keeps nothing: stored as the entry's own id. */
    readonly firstKeptEntryId: string | null;
  }
>;

export type BranchSummaryDraft = DraftOf<BranchSummaryEntry>;

export type ContextEditDraft = DraftOf<ContextEditEntry>;

type ThinkingLevelChangeDraft = DraftOf<
  ThinkingLevelChangeEntry,
  {
    /** omp: null for the level of the settings. */
    readonly thinkingLevel: string | null;
    /** omp: what the user chose, `auto` or a level. */
    readonly configured?: string | null | undefined;
  }
>;

/** A draft of an entry that this version knows. */
export type KnownDraft =
  | DraftOf<SessionMessageEntry>
  | ThinkingLevelChangeDraft
  | DraftOf<Omit<ModelChangeEntry, "model" | "role">>
  | CompactionDraft
  | BranchSummaryDraft
  | DraftOf<CustomEntry>
  | DraftOf<CustomMessageEntry, { readonly content: string | readonly UserContent[] }>
  | DraftOf<LabelEntry>
  | DraftOf<SessionInfoEntry, { readonly name: string }>
  | DraftOf<UsageEntry>
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
  /** The line from the comma after `parentId`, without the newline. */
  readonly after: Buffer;
  /** Offset in `after` of the entry's own id, as a JSON string; -1: nowhere. */
  readonly ownIdAt: number;
  /** As given; also in `after`. */
  readonly timestamp: string;
  readonly references: readonly Reference[];
  /** Its members but type, id, parentId and timestamp; undefined if they have to be parsed. */
  readonly copy: JsonObject | undefined;
}

export type ContentForm = "a string" | "an array" | "another value";

export interface DraftFields {
  readonly type: string;
  readonly fields: Readonly<Record<string, unknown>>;
}

/** Pure: it sees copies of the caller's fields. */
export type DraftTranslation = (draft: DraftFields) => DraftFields;
