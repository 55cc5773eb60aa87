/** The ids by which entries refer to others, besides their parents. Pure. */

/** A reference of an entry. */
export interface Reference {
  /** The field that holds it. */
  readonly field: "firstKeptEntryId" | "targetId";
  readonly id: string;
  /** Where its target belongs: on the path to the entry, or anywhere in the log. */
  readonly within: "path" | "log";
}

const none: readonly Reference[] = [];

/** Types whose entries have references. */
export const referringTypes: ReadonlySet<string> = new Set(["label", "context_edit", "compaction"]);

/**
 * The references of an entry that decide what it means. A compaction that keeps nothing, or names
 * what it keeps by another field, has none; nor has a branch summary, whose branch a fork leaves
 * out.
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
