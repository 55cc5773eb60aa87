/**
 * What a draft of a known type has to say: without it, the entry would mean something else to all
 * who read the log, and for good. With a misspelt `firstKeptEntryId`, a compaction would keep
 * nothing. Pure.
 */
import { invalidArgument, shown } from "../argument-checks.ts";
import type { DraftFields } from "./encode-entry.ts";

/** What a field may be, in words that complete "must be …". */
type Kind =
  | "a text"
  | "a text or null"
  | "a number"
  | "true or false"
  | "an object"
  | "an object or null"
  | "a text or a list";

/** What is needed per type; `message` is checked as it is encoded. */
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

/**
 * The draft, if it says what its type needs, in the words of pi or of omp.
 * @throws BranchlogError `ERR_INVALID_ARGUMENT`, with the name of the field.
 */
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
