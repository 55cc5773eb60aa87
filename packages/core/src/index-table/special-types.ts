/** Types of records that are indexed in another way than most. */

/** Types whose entries are parsed whole while reading: projections or the context lean on them. */
export const foldedTypes: ReadonlySet<string> = new Set([
  "label",
  "session_info",
  "compaction",
  "branch_summary",
  "model_change",
  "thinking_level_change",
  "context_edit",
  "title_change",
  "ttsr_injection",
  "mode_change",
  "service_tier_change",
  "reset_boundary",
  "archive",
]);

/** Record types that are no entries and no damage: omp's title slot. */
export const silentTypes: ReadonlySet<string> = new Set(["title"]);
