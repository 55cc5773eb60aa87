/**
 * Detects the dialect of a log. Dialects differ in a few type and field names and in ids. Drafts
 * are written in the dialect of their log; each entry is read in its own. Pure.
 */
import type { JsonObject } from "@branchlog/streaming";
import type { DraftFields, DraftTranslation } from "../entries/entry-draft.ts";
import type { SessionHeader } from "../entries/entry-types.ts";
import { ompEntryTypes } from "../entries/omp-entry-types.ts";
import { mainRole, modelReference, roleModelType } from "./model-reference.ts";

/** pi and co-mono write one dialect, oh-my-pi ("omp") the other. */
export type DialectName = "pi" | "omp";

export const dialectNames: readonly DialectName[] = ["pi", "omp"];

export const ompEntryIdLength = 8;
export const ompSessionIdLength = 21;

/** Header key that states the dialect where content would suggest another. */
export const dialectKey = "branchlog.dialect";

/** The dialect that a header states; undefined for most. */
export function markedDialect(header: object | undefined): DialectName | undefined {
  const marked: unknown = header === undefined ? undefined : Reflect.get(header, dialectKey);
  return marked === "pi" || marked === "omp" ? marked : undefined;
}

export interface DialectEvidence {
  readonly hasTitleSlot: boolean;
  readonly header: SessionHeader | undefined;
  /** Of the first entry that only one dialect has. */
  readonly ofEntries: DialectName | undefined;
  /** Of the agent that keeps its sessions where the file is; asked if nothing in the file tells. */
  readonly ofPlace?: (() => DialectName | undefined) | undefined;
}

/**
 * omp with a title slot; else what the header states; else omp by the header's fields; else that of
 * the first telling entry; else that of the place; else omp if the id has omp's form; else pi.
 */
export function dialectOfLog(evidence: DialectEvidence): DialectName {
  const { hasTitleSlot, header, ofEntries, ofPlace } = evidence;
  if (hasTitleSlot) return "omp";
  const marked = markedDialect(header);
  if (marked !== undefined) return marked;
  if (header !== undefined && ompHeaderFields.some((field) => Object.hasOwn(header, field))) {
    return "omp";
  }
  const told = ofEntries ?? ofPlace?.();
  if (told !== undefined) return told;
  const id = header?.id ?? "";
  return id.length === ompSessionIdLength && urlSafeText.test(id) ? "omp" : "pi";
}

const urlSafeText = /^[A-Za-z0-9_-]*$/;
const ompHeaderFields = ["title", "titleSource", "previousSessionFiles", "providerPromptCacheKey"];

const piTypes: readonly string[] = ["session_info", "usage", "context_edit"];
/** Types of both, with different fields. */
const sharedTypes: readonly string[] = ["model_change", "compaction", "branch_summary"];

export const dialectMarkers: readonly string[] = [...ompEntryTypes, ...piTypes, ...sharedTypes];

const typesOf: ReadonlyMap<unknown, DialectName> = new Map([
  ...ompEntryTypes.map((type) => [type, "omp"] as const),
  ...piTypes.map((type) => [type, "pi"] as const),
]);

const ompFields = ["shortSummary", "preserveData", "fromExtension"];
const piFields = ["fromHook", "systemMessage"];

/** Undefined if both write it so. */
export function dialectOfEntry(entry: JsonObject): DialectName | undefined {
  const { type } = entry;
  if (type === "model_change") return typeof entry["model"] === "string" ? "omp" : "pi";
  if (type !== "compaction" && type !== "branch_summary") return typesOf.get(type);
  if (ompFields.some((field) => Object.hasOwn(entry, field))) return "omp";
  return piFields.some((field) => Object.hasOwn(entry, field)) ? "pi" : undefined;
}

// Translates the fields of a draft to a dialect. A field without an equivalent is written
// unchanged. Pure.

export function translationTo(dialect: DialectName): DraftTranslation {
  return dialect === "omp" ? inOmp : inPi;
}

function inOmp(draft: DraftFields): DraftFields {
  const { type, fields } = draft;
  switch (type) {
    case "model_change": {
      const { provider, modelId, ...rest } = fields;
      if (typeof provider !== "string" || typeof modelId !== "string") return draft;
      return { type, fields: { ...rest, model: `${provider}/${modelId}` } };
    }
    case "session_info": {
      const { name, ...rest } = fields;
      return { type: "title_change", fields: { title: name ?? "", source: "user", ...rest } };
    }
    case "compaction":
    case "branch_summary":
      return { type, fields: renamed(fields, "fromHook", "fromExtension") };
    default:
      return draft;
  }
}

function inPi(draft: DraftFields): DraftFields {
  const { type, fields } = draft;
  switch (type) {
    case "model_change":
      return typeof fields["model"] === "string" ? modelInPi(fields["model"], draft) : draft;
    case "title_change": {
      const { title, previousTitle: _was, source: _source, trigger: _trigger, ...rest } = fields;
      return { type: "session_info", fields: { name: title, ...rest } };
    }
    case "thinking_level_change":
      if (fields["thinkingLevel"] !== null) return draft;
      return { type, fields: { ...fields, thinkingLevel: "off" } };
    case "compaction":
    case "branch_summary":
      return { type, fields: renamed(fields, "fromExtension", "fromHook") };
    default:
      return draft;
  }
}

function modelInPi(model: string, { type, fields }: DraftFields): DraftFields {
  const { model: _model, role, ...rest } = fields;
  const reference = modelReference(model);
  const isMain = role === undefined || role === mainRole;
  if (isMain && reference !== undefined) return { type, fields: { ...rest, ...reference } };
  return {
    type: "custom",
    fields: { customType: roleModelType, data: { model, role: role ?? mainRole } },
  };
}

function renamed(fields: DraftFields["fields"], from: string, to: string): DraftFields["fields"] {
  const { [from]: value, ...rest } = fields;
  return value === undefined ? fields : { ...rest, [to]: value };
}
