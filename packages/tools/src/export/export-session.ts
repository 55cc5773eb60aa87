/** Exports one path of a session, in bounded memory, completely or not at all. */
import { resolve } from "node:path";
import type { JsonObject, OptionNames } from "@branchlog/streaming";
import { BranchlogError } from "@branchlog/core";
import type { SessionEntry, StoredSession } from "@branchlog/core";
import type { EngineOptions } from "@branchlog/core/types";
import type { RedactionReport } from "../redaction/redactor.ts";
import { exactArguments, isObject } from "@branchlog/core/rows";
import type { ExactArguments } from "@branchlog/core/rows";
import { Engine, piecesOfOneLog, exportedPath } from "@branchlog/core/engine";
import { TurnReader, TurnSum, turnItems } from "@branchlog/library/catalogs";
import type { PlacedEntry, TurnItem } from "@branchlog/library/catalogs";
import {
  createStreamedLog,
  engineSettings,
  inLargeChunksAsync,
  requireBoolean,
  requireFree,
  requireOptions,
  requireText,
} from "@branchlog/core/files";
import { Redactor } from "../redaction/redactor.ts";
import { LineConverter } from "../convert/line-converter.ts";
import { atifTexts, ownerName } from "./atif-text.ts";
import { DatasetMessages, ShareGptTurns } from "./dataset-messages.ts";
import type { DatasetMessage } from "./dataset-messages.ts";
import { linearLines, linearPath } from "./linear-lines.ts";
import { inTwoPasses, redactedEntry, redactedHeader, redactedLines } from "./redacted-parts.ts";
import {
  itemMarkdown,
  markdownIndent,
  markdownTitle,
  turnEnd,
  turnHeading,
} from "./markdown-text.ts";

/** The path of a session file, or a session in a store. */
export type ExportSource = string | StoredSession;

export interface ExportOptions extends Pick<EngineOptions, "ports" | "lineBytesMax"> {
  /** The id of the entry where the path ends. Default: the last entry of the log. */
  readonly at?: string | undefined;
  /** Ends the export with the signal's reason; nothing is created. */
  readonly signal?: AbortSignal;
  /**
   * Replaces secrets by markers such as `[redacted: github-token 1]`, and omits images. The
   * session is read twice, the first time before the first piece. Default: false.
   */
  readonly redact?: boolean;
  /** Called after the last piece, with the replacements. */
  readonly onRedacted?: (report: RedactionReport) => void;
}

const exportNames: OptionNames<ExportOptions> = {
  ports: true,
  lineBytesMax: true,
  at: true,
  signal: true,
  redact: true,
  onRedacted: true,
};

export interface ExportReport {
  readonly path: string;
  readonly sizeBytes: number;
  /** With `redact`. */
  readonly redaction?: RedactionReport;
}

export interface LinearReport extends ExportReport {
  readonly converted: Readonly<Record<string, number>>;
  /** Whether an entry with the name was added, which the source has elsewhere. */
  readonly addedName: boolean;
  /** Resets of omp (`reset_boundary`) after the last compaction, which pi does not support. */
  readonly resets: number;
}

/**
 * A path of a session as Markdown, in pieces.
 * @throws BranchlogError as `openSession`; `ERR_ENTRY_NOT_FOUND`; `ERR_LOG_CHANGED` at the end at
 * the latest, after which the pieces are invalid; `ERR_REDACTION_FAILED`; `ERR_UNSERIALIZABLE` for
 * an entry that is nested too deeply.
 */
export function markdownPieces(
  source: ExportSource,
  options: ExportOptions = {},
): AsyncGenerator<string, void, undefined> {
  return piecesOf(source, options, (engine, redactor) => markdownTexts(engine, options, redactor));
}

async function* piecesOf<T>(
  source: ExportSource,
  options: ExportOptions,
  make: (engine: Engine, redactor: Redactor | undefined) => AsyncIterable<T>,
): AsyncGenerator<T, void, undefined> {
  const { signal, redact = false, onRedacted, ...opening } = requireOptions(options, exportNames);
  const isRedacted = requireBoolean("redact", redact);
  const engine = await Engine.openAt(source, { ...opening, access: "read" }, signal);
  const redactor = isRedacted ? new Redactor(engine.path) : undefined;
  const pieces = (): AsyncIterable<T> => make(engine, redactor);
  try {
    yield* piecesOfOneLog(engine, redactor ? inTwoPasses(redactor, pieces) : pieces());
    if (redactor) onRedacted?.(redactor.report());
  } catch (error) {
    throw error instanceof RangeError ? tooDeep(engine.path, error) : error;
  } finally {
    engine.release();
  }
}

/** The stack ends, or no text is that long. */
function tooDeep(path: string, cause: RangeError): BranchlogError {
  const message = `An entry of ${path} is nested too deeply or too long to be exported.`;
  return new BranchlogError("ERR_UNSERIALIZABLE", message, { path, cause });
}

async function* markdownTexts(
  engine: Engine,
  { at, signal }: ExportOptions,
  redactor: Redactor | undefined,
): AsyncGenerator<string, void, undefined> {
  const rows = exportedPath(engine, at);
  const { indexer, name } = engine.log.state;
  const title = (text: string): string => redactor?.text(text) ?? text;
  const header = redactor ? redactedHeader(redactor, engine.header) : engine.header;
  yield title(markdownTitle(header, name === undefined ? name : title(name)));
  const reader = new TurnReader(engine);
  let [turn, sum] = [-1, new TurnSum()];
  let headed: TurnItem | undefined;
  for await (const part of reader.parts(reader.path(rows), signal)) {
    const exact = new Map<number, ExactArguments>();
    const entries = part.entries.map((placed): PlacedEntry => {
      const { row, entry } = placed;
      if (entry === undefined) return placed;
      // Parsing rounds numbers that no double holds.
      const isExact = indexer.transcript === undefined && hasCalls(entry);
      const line = isExact ? engine.bodies.lineSync(row).toString() : "";
      const [clean, kept] = redactor ? redactedEntry(redactor, entry, line) : [entry, line];
      exact.set(row, exactArguments(kept, markdownIndent));
      return { ...placed, entry: clean };
    });
    const clean = (text: string, row: number): string =>
      redactor?.text(text, row < 0 ? undefined : engine.index.idOf(row)) ?? text;
    const items = turnItems(entries);
    if (turn !== part.turn) {
      yield turnEnd(sum.facts);
      [turn, sum] = [part.turn, new TurnSum()];
      headed = items.find(({ kind }) => kind === "prompt");
      const row = headed?.row ?? entries[0]?.row ?? -1;
      const timeMs = row < 0 ? Number.NaN : engine.index.rows.time(row);
      const prompt = headed?.kind === "prompt" ? headed.text : "";
      yield clean(turnHeading(turn + 1, prompt, timeMs), row);
    }
    sum.add(entries, items);
    for (const item of items) {
      if (item === headed) continue;
      const text = itemMarkdown(item, exact.get(item.row));
      if (text !== "") yield clean(text, item.row);
    }
  }
  yield turnEnd(sum.facts);
}

function hasCalls(entry: SessionEntry): boolean {
  if (entry.type !== "message") return false;
  // Decoding boundary: what is stored as a message may be anything.
  const message = entry.message as unknown as JsonObject | undefined;
  const content = message?.["content"];
  return Array.isArray(content) && content.some((block) => isObject(block) && "arguments" in block);
}

/**
 * A path of a session as a trajectory in ATIF 1.8, in pieces: for evaluations and datasets. If the
 * path does not end at the last entry, its common part with the path to the last one is marked as
 * copied context. Trajectories of subagents that have files of their own are inside it.
 * @throws BranchlogError as {@link markdownPieces}.
 */
export function atifPieces(
  source: ExportSource,
  options: ExportOptions = {},
): AsyncGenerator<string, void, undefined> {
  return piecesOf(source, options, (engine, redactor) => atifTexts(engine, options, redactor));
}

/**
 * A path of a session as lines of the Session Traces Format, which hubs of datasets show: a header,
 * then its messages.
 * @throws BranchlogError as {@link markdownPieces}.
 */
export function traceLinePieces(
  source: ExportSource,
  options: ExportOptions = {},
): AsyncGenerator<string, void, undefined> {
  return piecesOf(source, options, async function* (engine, redactor) {
    const { id, cwd } = engine.header;
    const { name } = engine.log.state;
    const harness = ownerName(engine);
    const header = { type: "session", harness, id, ...(name === undefined ? {} : { name }), cwd };
    yield cleanLine(redactor, header);
    for await (const message of datasetMessages(engine, options, redactor)) {
      yield cleanLine(undefined, { type: "message", message });
    }
  });
}

/**
 * A path of a session as one line of JSON in the form of ShareGPT, for training: calls of tools,
 * their results and thoughts are tags in the texts.
 * @throws BranchlogError as {@link markdownPieces}.
 */
export function shareGptPieces(
  source: ExportSource,
  options: ExportOptions = {},
): AsyncGenerator<string, void, undefined> {
  return piecesOf(source, options, async function* (engine, redactor) {
    const turns = new ShareGptTurns();
    const id = redactor?.text(engine.header.id) ?? engine.header.id;
    yield `{"id":${JSON.stringify(id)},"conversations":[`;
    for await (const message of datasetMessages(engine, options, redactor)) {
      yield turns.take(message);
    }
    yield turns.end();
    yield "]}\n";
  });
}

function cleanLine(redactor: Redactor | undefined, value: object): string {
  const line = JSON.stringify(value);
  return `${redactor?.json(line) ?? line}\n`;
}

async function* datasetMessages(
  engine: Engine,
  { at, signal }: ExportOptions,
  redactor: Redactor | undefined,
): AsyncGenerator<DatasetMessage, void, undefined> {
  const messages = new DatasetMessages();
  for await (const { entry } of engine.bodies.entries(exportedPath(engine, at), signal)) {
    yield* messages.take(redactor ? redactedEntry(redactor, entry, "")[0] : entry);
  }
  yield* messages.end();
}

/**
 * A path of a session as the bytes of a log for pi: the header, each entry of the path in pi's
 * dialect, then the name and labels that other entries give it.
 * @throws BranchlogError as {@link markdownPieces}.
 */
export function linearPieces(
  source: ExportSource,
  options: ExportOptions = {},
): AsyncGenerator<Buffer, void, undefined> {
  return convertedPieces(source, options, () => new LineConverter("pi"));
}

function convertedPieces(
  source: ExportSource,
  options: ExportOptions,
  newConverter: () => LineConverter,
): AsyncGenerator<Buffer, void, undefined> {
  return piecesOf(source, options, async function* (engine, redactor) {
    const { at, signal } = options;
    const path = await linearPath(engine, at, signal);
    const lines = linearLines({ engine, ...path, signal, converter: newConverter() });
    yield* inLargeChunksAsync(redactor ? redactedLines(redactor, lines) : lines);
  });
}

/**
 * Writes a path of a session to a new Markdown file.
 * @throws BranchlogError as {@link markdownPieces}; `ERR_LOG_EXISTS`, `ERR_CREATE_FAILED`.
 * @example
 * await exportMarkdown("session.jsonl", "session.md");
 */
export function exportMarkdown(
  source: ExportSource,
  target: string,
  options: ExportOptions = {},
): Promise<ExportReport> {
  return written(target, options, (reporting) =>
    inLargeChunksAsync(asBytes(markdownPieces(source, reporting))),
  );
}

/**
 * Writes a path of a session to a new file of JSON: {@link atifPieces}.
 * @throws BranchlogError as {@link exportMarkdown}.
 * @example
 * await exportAtif("session.jsonl", "trajectory.json");
 */
export function exportAtif(
  source: ExportSource,
  target: string,
  options: ExportOptions = {},
): Promise<ExportReport> {
  return written(target, options, (reporting) =>
    inLargeChunksAsync(asBytes(atifPieces(source, reporting))),
  );
}

/**
 * Writes a path of a session to a new file: {@link traceLinePieces}.
 * @throws BranchlogError as {@link exportMarkdown}.
 */
export function exportTraceLines(
  source: ExportSource,
  target: string,
  options: ExportOptions = {},
): Promise<ExportReport> {
  return written(target, options, (reporting) =>
    inLargeChunksAsync(asBytes(traceLinePieces(source, reporting))),
  );
}

/**
 * Writes a path of a session to a new file: {@link shareGptPieces}.
 * @throws BranchlogError as {@link exportMarkdown}.
 */
export function exportShareGpt(
  source: ExportSource,
  target: string,
  options: ExportOptions = {},
): Promise<ExportReport> {
  return written(target, options, (reporting) =>
    inLargeChunksAsync(asBytes(shareGptPieces(source, reporting))),
  );
}

/**
 * Writes a path of a session to a new linear log for pi. The context at its end is that of the
 * source.
 * @throws BranchlogError as {@link linearPieces}; `ERR_LOG_EXISTS`, `ERR_CREATE_FAILED`.
 */
export async function exportLinear(
  source: ExportSource,
  target: string,
  options: ExportOptions = {},
): Promise<LinearReport> {
  let converter = new LineConverter("pi");
  // A second pass counts again.
  const newConverter = (): LineConverter => (converter = new LineConverter("pi"));
  const report = await written(target, options, (reporting) =>
    convertedPieces(source, reporting, newConverter),
  );
  return { ...report, ...converter.counts };
}

async function written(
  target: string,
  options: ExportOptions,
  pieces: (options: ExportOptions) => AsyncIterable<Buffer>,
): Promise<ExportReport> {
  const { ports: given, signal, onRedacted } = requireOptions(options, exportNames);
  const { ports } = engineSettings(given === undefined ? {} : { ports: given });
  const path = resolve(requireText("The target", target));
  signal?.throwIfAborted();
  requireFree(ports, path);
  let bytes = 0;
  let redaction: RedactionReport | undefined;
  const reporting = (report: RedactionReport): void => {
    redaction = report;
    onRedacted?.(report);
  };
  async function* counted(): AsyncGenerator<Buffer> {
    for await (const piece of pieces({ ...options, onRedacted: reporting })) {
      bytes += piece.length;
      yield piece;
    }
  }
  await createStreamedLog(ports, path, counted());
  return { path, sizeBytes: bytes, ...(redaction === undefined ? {} : { redaction }) };
}

async function* asBytes(texts: AsyncIterable<string>): AsyncGenerator<Buffer> {
  for await (const text of texts) yield Buffer.from(text);
}
