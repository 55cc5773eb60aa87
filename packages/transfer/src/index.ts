/**
 * `@branchlog/transfer`: imports of Claude Code and Codex, exports as Markdown and linear logs,
 * conversion between dialects. In reading order.
 */
export { convertSession } from "./convert/convert-session.ts";
export type { ConversionResult, ConvertOptions } from "./convert/convert-session.ts";
export type { ConversionTarget } from "./convert/convert-entry.ts";
export { importDirectory } from "./import/import-directory.ts";
export type { DirectoryImportOptions, DirectoryImportStep } from "./import/import-directory.ts";
export { importSession } from "./import/import-session.ts";
export type { ImportOptions, ImportProgress, ImportReport } from "./import/import-session.ts";
export type { ImportDiagnostic, SkipReason } from "./import/source-mapping.ts";
export {
  exportLinear,
  exportMarkdown,
  linearPieces,
  markdownPieces,
} from "./export/export-session.ts";
export type {
  ExportOptions,
  ExportReport,
  ExportSource,
  LinearReport,
} from "./export/export-session.ts";
