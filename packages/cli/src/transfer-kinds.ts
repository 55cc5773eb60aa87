/** The formats of `branchlog import` and `branchlog export`, each with its function. */
import { openSession } from "@branchlog/core";
import {
  exportConnectonion,
  importConnectonion,
  isConnectonion,
} from "@branchlog/agents/connectonion";
import {
  atifPieces,
  exportAtif,
  exportLinear,
  exportMarkdown,
  exportShareGpt,
  exportTraceLines,
  importSession,
  importTrajectory,
  isTrajectory,
  linearPieces,
  markdownPieces,
  shareGptPieces,
  traceLinePieces,
} from "@branchlog/tools";
import type { ExportOptions, ExportReport, ExportSource } from "@branchlog/tools";
import type { DataForm } from "./output.ts";
import type { Style } from "./style.ts";
import { oneLine } from "./text/clean-text.ts";
import {
  addedNameText,
  changedText,
  importedStepsText,
  importedTurnsText,
  importText,
  lossText,
  redactionText,
  resetsText,
} from "./text/transfer-text.ts";
import { countText } from "./text/quantities.ts";

export type ExportFormat = "atif" | "markdown" | "pi" | "connectonion" | "html" | "hf" | "sharegpt";

interface Made {
  readonly json: object;
  readonly text: (style: Style) => string;
}

type Importer = (
  source: string,
  target: string,
  options: { readonly signal: AbortSignal },
) => Promise<Made>;

/** By the name of the source's agent. */
export function importerFrom(agent: string): Importer {
  if (agent === "atif") return importSteps;
  return agent === "connectonion" ? importDocument : importerOf(agent);
}

/** The source is recognised by its content. */
export const importRecognised: Importer = (source, target, options) =>
  isTrajectory(source)
    ? importSteps(source, target, options)
    : isConnectonion(source)
      ? importDocument(source, target)
      : importerOf("auto")(source, target, options);

function importerOf(from: string): Importer {
  return async (source, target, { signal }) => {
    const report = await importSession(source, target, { from, signal });
    return { json: report, text: (style) => importText(report, style) };
  };
}

async function importSteps(
  source: string,
  target: string,
  { signal }: { readonly signal: AbortSignal },
): Promise<Made> {
  const report = await importTrajectory(source, target, { signal });
  return { json: report, text: (style) => importedStepsText(report, style) };
}

async function importDocument(source: string, target: string): Promise<Made> {
  const report = await importConnectonion(source, target);
  const json = { kind: "connectonion", ...report };
  return { json, text: (style) => importedTurnsText(report, style) };
}

export interface Exporter {
  readonly write: (source: ExportSource, target: string, options: ExportOptions) => Promise<Made>;
  /** For standard output; null for a format that is written to files only. */
  readonly pieces:
    | ((source: ExportSource, options: ExportOptions) => AsyncIterable<string | Buffer>)
    | null;
  readonly form: DataForm;
  /** Of the names of its files. */
  readonly ending: string;
}

export const exporters: Readonly<Record<ExportFormat, Exporter>> = {
  atif: { write: writingBy(exportAtif), pieces: atifPieces, form: "json", ending: ".json" },
  hf: {
    write: writingBy(exportTraceLines),
    pieces: traceLinePieces,
    form: "json",
    ending: ".jsonl",
  },
  sharegpt: {
    write: writingBy(exportShareGpt),
    pieces: shareGptPieces,
    form: "json",
    ending: ".jsonl",
  },
  markdown: {
    write: writingBy(exportMarkdown),
    pieces: markdownPieces,
    form: "text",
    ending: ".md",
  },
  pi: { write: exportPath, pieces: linearPieces, form: "json", ending: ".jsonl" },
  connectonion: { write: exportDocument, pieces: null, form: "text", ending: ".yaml" },
  html: { write: exportPage, pieces: pagePieces, form: "text", ending: ".html" },
};

function writingBy(
  write: (source: ExportSource, target: string, options: ExportOptions) => Promise<ExportReport>,
): Exporter["write"] {
  return async (...given) => {
    const report = await write(...given);
    return { json: report, text: () => writtenText(report) };
  };
}

async function exportPath(
  source: ExportSource,
  target: string,
  options: ExportOptions,
): Promise<Made> {
  const report = await exportLinear(source, target, options);
  const changed = changedText(report.converted);
  const converted = changed === "" ? "" : `converted for pi: ${changed}\n`;
  const notes = `${addedNameText(report.addedName)}${resetsText(report.resets)}`;
  return { json: report, text: () => `${writtenText(report)}${converted}${notes}` };
}

function writtenText({ path, sizeBytes, redaction }: ExportReport): string {
  const written = `wrote ${oneLine(path, 400)}, ${countText(sizeBytes, "byte")}\n`;
  return `${written}${redactionText(redaction)}`;
}

async function* pagePieces(source: ExportSource, options: ExportOptions): AsyncGenerator<string> {
  // Loaded on demand: the page is for few exports.
  const { htmlPieces } = await import("@branchlog/web");
  const { at, redact = false, signal, onRedacted } = options;
  const told = onRedacted === undefined ? {} : { onRedacted };
  yield* htmlPieces(source, { at, redact, signal, ...told });
}

async function exportPage(
  source: ExportSource,
  target: string,
  options: ExportOptions,
): Promise<Made> {
  const { exportHtml } = await import("@branchlog/web");
  const { at, redact = false, signal } = options;
  const report = await exportHtml(source, target, { at, redact, signal });
  return { json: report, text: () => writtenText(report) };
}

async function exportDocument(
  source: ExportSource,
  target: string,
  { at, redact = false, signal }: ExportOptions,
): Promise<Made> {
  const opening = { access: "read", ...(signal === undefined ? {} : { signal }) } as const;
  const session =
    typeof source === "string"
      ? await openSession(source, opening)
      : await openSession({ ...source, ...opening });
  try {
    if (at !== undefined) await session.moveTo(at);
    const report = await exportConnectonion(session, target, { redact });
    return { json: report, text: () => `${lossText(report)}${redactionText(report.redaction)}` };
  } finally {
    await session.close();
  }
}
