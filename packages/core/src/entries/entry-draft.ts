/**
 * A draft: an entry without id, parentId and timestamp, which the log assigns under its lock. It is
 * read once, when it is encoded; later changes have no effect.
 */
import { nearestName } from "@branchlog/streaming";
import { invalidArgument, shown } from "../argument-checks.ts";
import type { ContentForm, DraftFields, EncodedDraft } from "./encode-entry.ts";
import type { ContextEditReplacement } from "./entry-types.ts";
import type { AgentMessage, SystemMessage, Usage, UserContent } from "./message-types.ts";
import type { OmpEntryType } from "./omp-entry-types.ts";

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

// Required fields of known types: without them, the entry would permanently mean something else to
// every reader. With a misspelt `firstKeptEntryId`, a compaction would keep nothing.

/** Completes "must be …". */
type Kind =
  | "a text"
  | "a text or null"
  | "a number"
  | "true or false"
  | "an object"
  | "an object or null"
  | "a text or a list";

/** By type; for `message` see {@link requireMessage}. */
const needed: ReadonlyMap<string, Readonly<Record<string, Kind>>> = new Map(
  Object.entries<Readonly<Record<string, Kind>>>({
    thinking_level_change: { thinkingLevel: "a text or null" },
    compaction: {
      summary: "a text",
      firstKeptEntryId: "a text or null",
      tokensBefore: "a number",
    },
    branch_summary: { fromId: "a text", summary: "a text" },
    custom: { customType: "a text" },
    custom_message: {
      customType: "a text",
      content: "a text or a list",
      display: "true or false",
    },
    label: { targetId: "a text" },
    session_info: { name: "a text" },
    usage: { kind: "a text", provider: "a text", model: "a text", usage: "an object" },
    context_edit: { targetId: "a text", replacement: "an object or null" },
  }),
);

const modelOfPi: Readonly<Record<string, Kind>> = { provider: "a text", modelId: "a text" };
const modelOfOmp: Readonly<Record<string, Kind>> = { model: "a text" };

/** @throws BranchlogError `ERR_INVALID_ARGUMENT`, with the name of the field. */
export function requireFields(draft: DraftFields): DraftFields {
  const { type, fields } = draft;
  const modelWords = fields["model"] === undefined ? modelOfPi : modelOfOmp;
  const kinds = type === "model_change" ? modelWords : needed.get(type);
  for (const [key, kind] of Object.entries(kinds ?? {})) {
    const value = fields[key];
    if (isOfKind(value, kind)) continue;
    const has = Object.hasOwn(fields, key) && value !== undefined;
    const found = has ? `not ${shown(value)}` : "but there is none";
    throw invalidArgument(`${key} of a ${type} entry must be ${kind}, ${found}`);
  }
  return draft;
}

function isOfKind(value: unknown, kind: Kind): boolean {
  switch (kind) {
    case "a text":
      return typeof value === "string";
    case "a text or null":
      return typeof value === "string" || value === null;
    case "a number":
      return Number.isFinite(value);
    case "true or false":
      return typeof value === "boolean";
    case "an object":
      return typeof value === "object" && value !== null;
    case "an object or null":
      return typeof value === "object";
    case "a text or a list":
      return typeof value === "string" || Array.isArray(value);
  }
}

// Messages: pi shows nothing of an unknown role, and fails at content of another form. Checked as
// written, since toJSON may change an object.

type OmpRole = "developer" | "pythonExecution" | "fileMention";

/** Roles that are absent are not checked. */
const contentForms: ReadonlyMap<string, readonly ContentForm[]> = new Map(
  Object.entries<readonly ContentForm[]>({
    user: ["a text", "a list"],
    assistant: ["a list"],
    toolResult: ["a list"],
    system: ["a text", "a list"],
    custom: ["a text", "a list"],
    developer: ["a text", "a list"],
    bashExecution: [],
    branchSummary: [],
    compactionSummary: [],
    pythonExecution: [],
    fileMention: [],
  } satisfies Record<AgentMessage["role"] | OmpRole, readonly ContentForm[]>),
);

/**
 * Checks the role and content of a message.
 *
 * @param allowUnknownRole Accepts roles of neither pi nor omp.
 * @throws BranchlogError `ERR_INVALID_ARGUMENT`, with the nearest role or the form of the content.
 */
export function requireMessage(draft: EncodedDraft, allowUnknownRole: boolean): EncodedDraft {
  const { type, role, content } = draft;
  if (type !== "message") return draft;
  if (role === undefined) throw invalidArgument("role of a message must be a text");
  const forms = contentForms.get(role);
  if (forms === undefined && !allowUnknownRole) {
    const nearest = nearestName(role, [...contentForms.keys()]);
    const meant = nearest === undefined ? "" : ` Did you mean "${nearest}"?`;
    throw invalidArgument(
      `The role ${shown(role)} of a message is unknown; nothing was written.${meant} ` +
        "A role of your own needs allowUnknownType: true (branchlog append --allow-unknown-type)",
    );
  }
  if (forms === undefined || forms.length === 0) return draft;
  if (content !== undefined && forms.includes(content)) return draft;
  const found = content === undefined ? "but there is none" : `not ${content}`;
  throw invalidArgument(
    `content of a message of the role ${role} must be ${forms.join(" or ")}, ${found}`,
  );
}
