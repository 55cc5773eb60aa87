/**
 * Puts the fields of a draft into the words of a dialect, so that an entry is written as the agent
 * of its log writes it, whoever appends it. What a dialect has no words for is written as it is: a
 * type that an agent does not know is a node of its tree like any other. Pure.
 */
import type { DraftFields, DraftTranslation } from "../entries/encode-entry.ts";
import type { DialectName } from "./dialect.ts";
import { mainRole, modelReference, roleModelType } from "./model-reference.ts";

/** What puts drafts into the words of a dialect. */
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
