/**
 * Turns the bytes of a row's line into its entry: decoded, in the current form, checked to be the
 * entry that the index says. Reads nothing and reports nothing.
 */
import { decodeLine } from "@branchlog/streaming";
import type { JsonObject } from "@branchlog/streaming";
import { currentVersion, entryForm } from "../dialects/header.ts";
import { upcastEntry } from "../dialects/upcast.ts";
import type { UpcastContext } from "../dialects/upcast.ts";
import type { LogIndexer } from "../index-table/log-indexer.ts";

/** The entry in the bytes of a row's line, or why they are not the entry of that row. */
export function entryInLine(
  indexer: LogIndexer,
  row: number,
  bytes: Buffer,
  start: number,
  end: number,
): JsonObject | string {
  const decoded = decodeLine(bytes, start, end);
  if (!decoded.ok) return decoded.reason;
  const entry = inCurrentForm(indexer, row, decoded.value);
  const isRows = entry["id"] === indexer.index.idOf(row);
  return isRows && typeof entry["type"] === "string" ? entry : "id-changed";
}

/** The stored value of a row in the current form: the value itself if it has that form. */
export function inCurrentForm(indexer: LogIndexer, row: number, value: JsonObject): JsonObject {
  const isCurrent = (indexer.header?.version ?? currentVersion) >= currentVersion;
  return isCurrent ? value : upcastEntry(value, upcastContext(indexer, row));
}

/** What bringing the row's record into the current form depends on. */
export function upcastContext({ index, lines, header }: LogIndexer, row: number): UpcastContext {
  return {
    version: entryForm(header?.version ?? currentVersion),
    id: index.idOf(row),
    parentId: index.parentIdOf(row),
    idAtFileIndex: (record) => {
      const target = lines.rowOfRecord(record);
      if (target < 0) return undefined;
      // pi assigns ids in file order: an index that points forward finds none yet.
      return target > row ? null : index.idOf(target);
    },
  };
}

/** Freezes a JSON value and everything in it. Iterative: bodies may be nested deeply. */
export function freezeDeep(value: JsonObject): void {
  const open: object[] = [value];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    Object.freeze(next);
    for (const inner of Object.values<unknown>({ ...next })) {
      if (typeof inner === "object" && inner !== null) open.push(inner);
    }
  }
}
