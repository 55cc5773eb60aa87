/** Imports a session of another agent. The same source gives the same bytes. */
import { isUtf8 } from "node:buffer";
import { basename, resolve } from "node:path";
import type { FileRecord, OptionNames } from "@branchlog/streaming";
import type { Ports, SourceKind } from "@branchlog/core/types";
import {
  changedNumber,
  createStreamedLog,
  currentVersion,
  engineSettings,
  requireFree,
  requireOptions,
  requireText,
  sourceType,
  transcriptId,
} from "@branchlog/core/internal";
import { ClaudeMapping } from "./claude-mapping.ts";
import { CodexMapping } from "./codex-mapping.ts";
import { sourceLineBytesMax, writeBytes } from "./limits.ts";
import { changedText, LineTally } from "./source-mapping.ts";
import type {
  ImportDiagnostic,
  LineOutcome,
  SkipReason,
  MappingSetting,
  SourceMapping,
} from "./source-mapping.ts";
import { LogBuilder } from "./log-builder.ts";
import { damageOf, readHead, sourceCheck, sourceLines, sourceSize } from "./source-reader.ts";
import type { SourceFacts } from "./source-reader.ts";

export interface ImportProgress {
  readonly bytes: number;
  readonly totalBytes: number;
  readonly lines: number;
}

export interface ImportOptions {
  /** Whose session it is. Default `auto`: recognised by its records. */
  readonly from?: "auto" | SourceKind;
  /** Longest line that is read, in bytes; a longer one is skipped. Default 256 MiB. */
  readonly lineBytesMax?: number;
  /** Ends the import with the signal's reason; nothing is created. */
  readonly signal?: AbortSignal;
  readonly onProgress?: (progress: ImportProgress) => void;
  /** Where the new log is written; the source is always a file of this machine. */
  readonly ports?: Partial<Ports>;
}

const importNames: OptionNames<ImportOptions> = {
  from: true,
  lineBytesMax: true,
  signal: true,
  onProgress: true,
  ports: true,
};

/** The result of an import. `imported` and the counts of `skipped` add up to `lines`. */
export interface ImportReport {
  readonly kind: SourceKind;
  readonly path: string;
  /** Of the new session. */
  readonly id: string;
  /** Lines of the source, damaged and blank ones included. */
  readonly lines: number;
  /** Lines that are in the log, as entries, parts of them, or the shape of its tree. */
  readonly imported: number;
  /** The other lines, by reason. */
  readonly skipped: Readonly<Partial<Record<SkipReason, number>>>;
  readonly entries: number;
  /** The first 1,000 findings, in the order of the source. */
  readonly diagnostics: readonly ImportDiagnostic[];
  readonly diagnosticCount: number;
}

/**
 * Imports a session of Claude Code or Codex into a new log of version 3 (docs/formats.md). A source
 * that grows is read up to its size at the start. Memory is proportional to the longest line and
 * the number of records.
 * @throws BranchlogError `ERR_LOG_EXISTS`; `ERR_LOG_MISSING`, `ERR_LOG_EMPTY`,
 * `ERR_LOG_UNREADABLE`, `ERR_NOT_A_SESSION`, `ERR_LOG_CHANGED` about the source;
 * `ERR_CREATE_FAILED`. Nothing is created then.
 * @example
 * const report = await importSession("rollout-2026-01-01.jsonl", "session.jsonl");
 * console.log(report.imported, report.skipped);
 */
export async function importSession(
  source: string,
  target: string,
  options: ImportOptions = {},
): Promise<ImportReport> {
  const {
    from = "auto",
    signal,
    lineBytesMax = sourceLineBytesMax,
  } = requireOptions(options, importNames);
  const { ports } = engineSettings(options.ports === undefined ? {} : { ports: options.ports });
  const sourcePath = resolve(requireText("The source", source));
  const path = resolve(requireText("The target", target));
  signal?.throwIfAborted();
  const totalBytes = sourceSize(sourcePath);
  requireFree(ports, path);
  const requireSame = sourceCheck(sourcePath, totalBytes);
  const lines = sourceLines(sourcePath, { to: totalBytes, lineBytesMax, signal });
  try {
    const head = await readHead(sourcePath, lines, from);
    const job = importJob(sourcePath, head.facts);
    const onRead = (bytes: number): void =>
      options.onProgress?.({ bytes, totalBytes, lines: job.setting.tally.lines });
    const chunks = importedChunks(job, [head.lines, lines], onRead);
    await createStreamedLog(ports, path, endedBy(chunks, requireSame));
    const { log, tally } = job.setting;
    const { imported, skipped, diagnostics, diagnosticCount } = tally;
    const counts = { lines: tally.lines, imported, skipped, entries: log.entries };
    const { kind } = head.facts;
    return { kind, path, id: job.sessionId, ...counts, diagnostics, diagnosticCount };
  } finally {
    await lines.return();
  }
}

interface ImportJob {
  readonly sessionId: string;
  readonly setting: MappingSetting;
  readonly mapping: SourceMapping;
}

/** To be increased whenever the same source would give other bytes. */
const importVersion = 2;

function importJob(sourcePath: string, facts: SourceFacts): ImportJob {
  const { kind, sourceId, cwd, started: timestamp, agentVersion, meta } = facts;
  const sessionId = transcriptId(kind, sourceId, basename(sourcePath));
  const header = {
    type: "session",
    version: currentVersion,
    id: sessionId,
    timestamp,
    cwd,
  } as const;
  const log = new LogBuilder(header);
  const versions = { agent: agentVersion, import: importVersion };
  const data = { kind, sourceId, path: sourcePath, cwd, versions, meta };
  const draft = { type: "custom", customType: sourceType, data } as const;
  const rootId = log.add(draft, { parentId: null, time: timestamp, seed: "source#0" });
  const setting = { log, tally: new LineTally(), facts, rootId };
  const mapping = kind === "claude" ? new ClaudeMapping(setting) : new CodexMapping(setting);
  return { sessionId, setting, mapping };
}

async function* importedChunks(
  { setting, mapping }: ImportJob,
  parts: readonly (AsyncIterable<FileRecord> | Iterable<FileRecord>)[],
  onRead: (bytes: number) => void,
): AsyncGenerator<Buffer> {
  const { log, tally } = setting;
  let at = 0;
  for (const lines of parts) {
    for await (const line of lines) {
      tally.count(outcomeOf(line, mapping, tally));
      at = line.offset + line.length;
      if (log.bytes < writeBytes) continue;
      yield log.take();
      onRead(at);
    }
  }
  mapping.end();
  tally.assertComplete();
  yield log.take();
  onRead(at);
}

async function* endedBy(chunks: AsyncIterable<Buffer>, check: () => void): AsyncGenerator<Buffer> {
  yield* chunks;
  check();
}

function outcomeOf(record: FileRecord, mapping: SourceMapping, tally: LineTally): LineOutcome {
  const damage = damageOf(record);
  const { lineNumber: line, length: bytes } = record;
  if (damage === undefined && record.ok) {
    if (record.bytes !== null && !isUtf8(record.bytes)) {
      const message = "bytes that are no UTF-8 became U+FFFD";
      tally.report({ kind: "invalid-utf8", line, message });
    }
    const outcome = mapping.push({ value: record.value, line, bytes });
    if (outcome === "imported" || outcome === "held") reportChanged(record, tally);
    return outcome;
  }
  const reason = damage ?? "not-object";
  if (reason !== "blank") {
    const message = record.ok ? "the record has too many levels" : record.message;
    tally.report({ kind: "bad-line", line, message: `${reason}: ${message}` });
  }
  return reason;
}

/** Reports numbers that no double holds: a mapping sees only their values. */
function reportChanged({ bytes, lineNumber: line }: FileRecord, tally: LineTally): void {
  // One character for each byte: the digits are ASCII, and decoding would take longer.
  const number = bytes === null ? undefined : changedNumber(bytes.toString("latin1"));
  if (number === undefined) return;
  tally.report({ kind: "changed-number", line, message: changedText(number) });
}
