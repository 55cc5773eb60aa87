/** Model names: pi has provider and id, omp `provider/id` for each role. Pure. */

/** The role of the conversation's model. */
export const mainRole = "default";

/** Stores an omp model of another role in a pi log as extension state, which pi ignores. */
export const roleModelType = "branchlog.role_model";

/** A model as its provider names it. */
export interface ModelReference {
  readonly provider: string;
  readonly modelId: string;
}

/** Splits omp's `provider/modelId`; the id may contain slashes. */
export function modelReference(model: string): ModelReference | undefined {
  const at = model.indexOf("/");
  if (at <= 0 || at === model.length - 1) return undefined;
  return { provider: model.slice(0, at), modelId: model.slice(at + 1) };
}

/** Undefined for one of pi. */
export function modelRole(entry: {
  readonly model?: unknown;
  readonly role?: unknown;
}): string | undefined {
  if (typeof entry.model !== "string" || entry.model === "") return undefined;
  return typeof entry.role === "string" && entry.role !== "" ? entry.role : mainRole;
}
