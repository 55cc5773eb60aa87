/** Requirements of a draft before it is stored: a type that is named, its fields, a role. Pure. */
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
      'A custom type needs a namespace, such as "x:note", or allowUnknownType: true ' +
      "(branchlog append --allow-unknown-type)",
  );
}

// Required fields of known types: without them, the entry would permanently mean something else to
// every reader. With a misspelt `firstKeptEntryId`, a compaction would keep nothing.

/** Completes "must be …". */
type Kind =
  | "a string"
  | "a string or null"
  | "a number"
  | "a boolean"
  | "an object"
  | "an object or null"
  | "a string or an array";

/** By type; for `message` see {@link requireMessage}. */
const needed: ReadonlyMap<string, Readonly<Record<string, Kind>>> = new Map(
  Object.entries<Readonly<Record<string, Kind>>>({
    thinking_level_change: { thinkingLevel: "a string or null" },
    compaction: {
      summary: "a string",
      firstKeptEntryId: "a string or null",
      tokensBefore: "a number",
    },
    branch_summary: { fromId: "a string", summary: "a string" },
    custom: { customType: "a string" },
    custom_message: {
      customType: "a string",
      content: "a string or an array",
      display: "a boolean",
    },
    label: { targetId: "a string" },
    session_info: { name: "a string" },
    usage: { kind: "a string", provider: "a string", model: "a string", usage: "an object" },
    context_edit: { targetId: "a string", replacement: "an object or null" },
  }),
);

const modelOfPi: Readonly<Record<string, Kind>> = { provider: "a string", modelId: "a string" };
const modelOfOmp: Readonly<Record<string, Kind>> = { model: "a string" };

/** @throws BranchlogError `ERR_INVALID_ARGUMENT`, with the name of the field. */
export function requireFields(draft: DraftFields): DraftFields {
  const { type, fields } = draft;
  const modelWords = fields["model"] === undefined ? modelOfPi : modelOfOmp;
  const kinds = type === "model_change" ? modelWords : needed.get(type);
  for (const [key, kind] of Object.entries(kinds ?? {})) {
    const value = fields[key];
    if (isOfKind(value, kind)) continue;
    const has = Object.hasOwn(fields, key) && value !== undefined;
    const found = has ? `not ${shown(value)}` : "but it is missing";
    throw invalidArgument(`${key} of a ${type} entry must be ${kind}, ${found}`);
  }
  return draft;
}

function isOfKind(value: unknown, kind: Kind): boolean {
  switch (kind) {
    case "a string":
      return typeof value === "string";
    case "a string or null":
      return typeof value === "string" || value === null;
    case "a number":
      return Number.isFinite(value);
    case "a boolean":
      return typeof value === "boolean";
    case "an object":
      return typeof value === "object" && value !== null;
    case "an object or null":
      return typeof value === "object";
    case "a string or an array":
      return typeof value === "string" || Array.isArray(value);
  }
}

// Messages: pi shows nothing of an unknown role, and fails at content of another form. Checked as
// written, since toJSON may change an object.

type OmpRole = "developer" | "pythonExecution" | "fileMention";

/** Roles that are absent are not checked. */
const contentForms: ReadonlyMap<string, readonly ContentForm[]> = new Map(
  Object.entries<readonly ContentForm[]>({
    user: ["a string", "an array"],
    assistant: ["an array"],
    toolResult: ["an array"],
    system: ["a string", "an array"],
    custom: ["a string", "an array"],
    developer: ["a string", "an array"],
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
        "A custom role needs allowUnknownType: true (branchlog append --allow-unknown-type)",
    );
  }
  if (forms === undefined || forms.length === 0) return draft;
  if (content !== undefined && forms.includes(content)) return draft;
  const found = content === undefined ? "but it is missing" : `not ${content}`;
  throw invalidArgument(
    `content of a message of the role ${role} must be ${forms.join(" or ")}, ${found}`,
  );
}
