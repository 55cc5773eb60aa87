/** The oracle: pi's rules for migrating a file, all records at once, on a copy. For tests only. */
import type { JsonObject } from "@branchlog/streaming";

/** What pi would write for these records, the first being the header. `ids` are those it draws. */
export function migrateAsPi(records: readonly JsonObject[], ids: readonly string[]): JsonObject[] {
  const file = structuredClone(records) as JsonObject[];
  const header = file[0];
  const version = header?.["version"] ?? 1;
  if (header === undefined || typeof version !== "number") return file;
  if (version < 2) linkRecords(file, ids);
  if (version < 3) renameRoles(file);
  return file;
}

function linkRecords(file: JsonObject[], ids: readonly string[]): void {
  let before: string | null = null;
  let drawn = 0;
  for (const record of file) {
    if (record["type"] === "session") {
      record["version"] = 2;
      continue;
    }
    const id = ids[drawn++] ?? "";
    record["id"] = id;
    record["parentId"] = before;
    before = id;
    const index = record["firstKeptEntryIndex"];
    if (record["type"] !== "compaction" || typeof index !== "number") continue;
    const target = file[index];
    if (target !== undefined && target["type"] !== "session") {
      // A target further on has no id yet; JSON.stringify then leaves the key out.
      const kept = target["id"];
      if (kept === undefined) delete record["firstKeptEntryId"];
      else record["firstKeptEntryId"] = kept;
    }
    delete record["firstKeptEntryIndex"];
  }
}

function renameRoles(file: JsonObject[]): void {
  for (const record of file) {
    if (record["type"] === "session") record["version"] = 3;
    const message = record["message"];
    if (record["type"] !== "message" || typeof message !== "object" || message === null) continue;
    if (!Array.isArray(message) && message["role"] === "hookMessage") message["role"] = "custom";
  }
}
