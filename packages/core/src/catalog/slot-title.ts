/**
 * The title slot of newer omp files: the first record, before the header, which omp overwrites in
 * place when a session is renamed. Pure.
 */
import type { JsonObject } from "@branchlog/streaming";

/**
 * The title that a record holds if it is such a slot, white space trimmed, "" if there is none;
 * undefined for any other record.
 */
export function slotTitle(value: JsonObject): string | undefined {
  const { type, v, title, source, updatedAt, pad } = value;
  if (type !== "title" || v !== 1 || typeof title !== "string") return undefined;
  if (typeof updatedAt !== "string" || typeof pad !== "string") return undefined;
  const isKnownSource = source === undefined || source === "auto" || source === "user";
  return isKnownSource ? title.trim() : undefined;
}
