/** Types of records that are indexed in another way than most. */
import { tellingTypes } from "../dialects/dialect.ts";

/** Types whose entries are parsed whole while reading: projections or the context lean on them. */
export const foldedTypes: ReadonlySet<string> = new Set([
  "label",
  "thinking_level_change",
  ...tellingTypes,
]);

/** Record types that are no entries and no damage: omp's title slot. */
export const silentTypes: ReadonlySet<string> = new Set(["title"]);
