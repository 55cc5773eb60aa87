/**
 * What can be imported and exported, and by which function: the one place where a format is added
 * to `branchlog import` and `branchlog export`.
 */
import {
  exportLinear,
  exportMarkdown,
  importSession,
  linearPieces,
  markdownPieces,
} from "@branchlog/core";
import type {
  ExportOptions,
  ExportReport,
  ImportOptions,
  ImportReport,
  SourceKind,
} from "@branchlog/core";

/** Makes a session file of what another agent stored. */
type Importer = (source: string, target: string, options: ImportOptions) => Promise<ImportReport>;

/** By the agent that is named with `--from`. */
export const importers: ReadonlyMap<string, Importer> = new Map<string, Importer>([
  ["claude", importerOf("claude")],
  ["codex", importerOf("codex")],
]);

function importerOf(from: SourceKind): Importer {
  return (source, target, options) => importSession(source, target, { ...options, from });
}

/** Without `--from`: the source is recognised by what is in it. */
export const importRecognised: Importer = importSession;

/** Makes another form of a session. */
export interface Exporter {
  /** Writes a new file. */
  readonly write: (source: string, target: string, options: ExportOptions) => Promise<ExportReport>;
  /** The same bytes for standard output; null for a form that is only a file. */
  readonly pieces:
    | ((source: string, options: ExportOptions) => AsyncIterable<string | Buffer>)
    | null;
  /** Whether people read it: then nothing in it may steer a terminal. */
  readonly isText: boolean;
}

/** By the format that is named with `--to`. */
export const exporters: ReadonlyMap<string, Exporter> = new Map<string, Exporter>([
  ["markdown", { write: exportMarkdown, pieces: markdownPieces, isText: true }],
  ["pi", { write: exportLinear, pieces: linearPieces, isText: false }],
]);
