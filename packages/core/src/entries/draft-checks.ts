/** What a draft must have before it is stored: a type that is named, its fields, a role. Pure. */
import { nearestName } from "@branchlog/streaming";
import { invalidArgument, shown } from "../argument-checks.ts";
import type { ContentForm, DraftFields, EncodedDraft } from "./entry-draft.ts";
import { isKnownEntryType, knownEntryTypes } from "./entry-types.ts";
import type { AgentMessage } from "./message-types.ts";
import { isOmpEntryType, ompEntryTypes } from "./omp-entry-types.ts";

// Named types: those of pi and omp, and any in a namespace. No model sees entries of other types,
// as with a misspelt type, which is therefore refused before it is stored.

/** A namespace, a colon, and a name. */
const namespacedForm = /^[^:]+:./su;

export function isNamedType(type: string): boolean {
  return isKnownEntryType(type) || isOmpEntryType(type) || namespacedForm.test(type);
}

/** Undefined if no known type is similar. */
export function nearestType(type: string): string | undefined {
  return nearestName(type, [...knownEntryTypes, ...ompEntryTypes]);
}

/** @throws BranchlogError `ERR_INVALID_ARGUMENT`, with the nearest type. */
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
