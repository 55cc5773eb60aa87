/**
 * How the dialects name models: pi by provider and id, and there is one; omp by `provider/id`, and
 * there is one for each role. Pure.
 */

/** The role of the model that a session talks to. */
export const mainRole = "default";

/**
 * The model of another role in the dialect of pi: state of an extension, which pi keeps and does
 * not read. Its data is what omp's `model_change` holds.
 */
export const roleModelType = "branchlog.role_model";

/** A model as its provider names it. */
export interface ModelReference {
  readonly provider: string;
  readonly modelId: string;
}

/** The two parts of omp's `provider/modelId`; the id may hold slashes itself. */
export function modelReference(model: string): ModelReference | undefined {
  const at = model.indexOf("/");
  if (at <= 0 || at === model.length - 1) return undefined;
  return { provider: model.slice(0, at), modelId: model.slice(at + 1) };
}

/** The role that omp's `model_change` sets the model of; undefined for one of pi. */
export function modelRole(entry: {
  readonly model?: unknown;
  readonly role?: unknown;
}): string | undefined {
  if (typeof entry.model !== "string" || entry.model === "") return undefined;
  return typeof entry.role === "string" && entry.role !== "" ? entry.role : mainRole;
}
