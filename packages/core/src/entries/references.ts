/** References of entries to others, besides parents. Pure. */

export interface Reference {
  readonly field: "firstKeptEntryId" | "targetId";
  readonly id: string;
  /** Where the target must be. */
  readonly within: "path" | "log";
}

const none: readonly Reference[] = [];

export const referringTypes: ReadonlySet<string> = new Set(["label", "context_edit", "compaction"]);

/**
 * Only those that decide the meaning of the entry. Absent for compactions that keep nothing or name
 * the kept entry by another field, and for branch summaries, whose branch a fork omits.
 */
export function referencesOf(
  type: string,
  fields: Readonly<Record<string, unknown>>,
): readonly Reference[] {
  switch (type) {
    case "label":
      return reference("targetId", fields, "log");
    case "context_edit":
      return reference("targetId", fields, "path");
    case "compaction":
      return reference("firstKeptEntryId", fields, "path");
    default:
      return none;
  }
}

function reference(
  field: Reference["field"],
  fields: Readonly<Record<string, unknown>>,
  within: Reference["within"],
): readonly Reference[] {
  const id = fields[field];
  return typeof id === "string" && id !== "" ? [{ field, id, within }] : none;
}

/** `its firstKeptEntryId, a1, is not on its path`. */
export function danglingText({ field, id, within }: Reference): string {
  const where = within === "path" ? "is not on its path" : "is not in the log";
  return `its ${field}, ${id}, ${where}`;
}
