/** Reads a source line by line, up to its size at the start, and recognises its kind. */
import { statSync } from "node:fs";
import type { Stats } from "node:fs";
import { records } from "@branchlog/streaming";
import type { FileRecord, JsonObject, ReadFileOptions } from "@branchlog/streaming";
import { BranchlogError } from "@branchlog/core";
import type { SourceKind } from "@branchlog/core/types";
import {
  LogFile,
  codexRecord,
  compressedErrorAt,
  environmentCwd,
  errorCodeOf,
  headBytesMax,
  headLinesMax,
  isDeeper,
  kindOf,
  logChanged,
  nodeFileSystem,
  stringAt,
  timeAt,
  transcriptNames,
  unchangedCheck,
} from "@branchlog/core/internal";
import { recordDepthMax } from "./limits.ts";
import type { LineOutcome } from "./source-mapping.ts";

export interface SourceHead {
  readonly lines: readonly FileRecord[];
  readonly facts: SourceFacts;
}

export interface SourceFacts {
  readonly kind: SourceKind;
  readonly sourceId: string | undefined;
  readonly cwd: string;
  readonly started: string;
  readonly agentVersion: string | undefined;
  readonly meta: JsonObject | undefined;
}

/** @throws BranchlogError `ERR_LOG_MISSING`, `ERR_LOG_EMPTY`, `ERR_LOG_UNREADABLE`. */
export function sourceSize(path: string): number {
  let stat: Stats;
  try {
    stat = statSync(path);
  } catch (cause) {
    if (errorCodeOf(cause) !== "ENOENT") throw unreadable(path, cause);
    const message = `There is no file at ${path} to import. Check the path.`;
    throw new BranchlogError("ERR_LOG_MISSING", message, { path, cause });
  }
  if (!stat.isFile()) {
    const what = stat.isDirectory() ? "a directory" : "not a regular file";
    const message = `${path} is ${what}, not a session. Give the path of one session's file.`;
    throw new BranchlogError("ERR_LOG_UNREADABLE", message, { path });
  }
  if (stat.size > 0) return stat.size;
  throw new BranchlogError("ERR_LOG_EMPTY", `${path} is empty: nothing to import.`, { path });
}

/**
 * The returned check, for the end of the import, verifies that the source only grew.
 *
 * @throws BranchlogError `ERR_LOG_CHANGED`, by the check.
 */
export function sourceCheck(path: string, size: number): () => void {
  const named = new LogFile(nodeFileSystem, path);
  const stat = named.statSync();
  if (stat === null) throw logChanged(path);
  return unchangedCheck(named.adopted(stat), size, path);
}

/** Up to `to`. Throws `ERR_LOG_UNREADABLE`; the signal's reason. */
export async function* sourceLines(
  path: string,
  options: ReadFileOptions,
): AsyncGenerator<FileRecord, void, undefined> {
  try {
    yield* records(path, options);
  } catch (error) {
    if (options.signal?.aborted === true) throw error;
    throw unreadable(path, error);
  }
}

/**
 * Reads lines until the facts about a source are known, or the limits are reached.
 * @throws BranchlogError `ERR_NOT_A_SESSION` if no record shows the kind, or it is not the wanted
 * one.
 */
export async function readHead(
  path: string,
  lines: AsyncGenerator<FileRecord, void, undefined>,
  wanted: SourceKind | "auto",
): Promise<SourceHead> {
  const head: FileRecord[] = [];
  const found: FoundFacts = {};
  let kind: SourceKind | undefined;
  let bytes = 0;
  while (head.length < headLinesMax && bytes < headBytesMax) {
    const next = await lines.next();
    if (next.done === true) break;
    const line = next.value;
    head.push(line);
    bytes += line.length;
    if (!line.ok) continue;
    kind ??= kindOf(line.value);
    if (kind === undefined) continue;
    addFacts(found, kind, line.value);
    const { sourceId, cwd, started } = found;
    if (sourceId !== undefined && cwd !== undefined && started !== undefined) break;
  }
  const compressed = kind === undefined ? compressedErrorAt(path) : undefined;
  if (compressed !== undefined) throw compressed;
  if (kind === undefined || (wanted !== "auto" && kind !== wanted)) throw notA(wanted, path, kind);
  const { sourceId, cwd = "", started = new Date(0).toISOString(), agentVersion, meta } = found;
  return { lines: head, facts: { kind, sourceId, cwd, started, agentVersion, meta } };
}

type FoundFacts = { -readonly [Fact in keyof SourceFacts]?: SourceFacts[Fact] | undefined };

function addFacts(found: FoundFacts, kind: SourceKind, record: JsonObject): void {
  found.started ??= timeAt(record, "timestamp");
  if (kind === "claude") {
    found.sourceId ??= claudeId(record);
    found.cwd ??= stringAt(record, "cwd");
    found.agentVersion ??= stringAt(record, "version");
    const gitBranch = stringAt(record, "gitBranch");
    if (gitBranch) found.meta ??= { gitBranch };
    return;
  }
  const { type, payload } = codexRecord(record) ?? {};
  if (type === "session_meta" && found.meta === undefined) {
    found.meta = payload;
    found.sourceId ??= stringAt(payload, "id");
    found.agentVersion ??= stringAt(payload, "cli_version");
  }
  if (type === "session_meta" || type === "turn_context") found.cwd ??= stringAt(payload, "cwd");
  else if (payload !== undefined) found.cwd ??= environmentCwd(payload);
}

/** The transcript of a sub-agent has the id of its session; its own is appended. */
function claudeId(record: JsonObject): string | undefined {
  const sessionId = stringAt(record, "sessionId");
  const agentId = stringAt(record, "agentId");
  if (sessionId === undefined || record["isSidechain"] !== true || agentId === undefined) {
    return sessionId;
  }
  return `${sessionId}.${agentId}`;
}

/** Why a line cannot be mapped; undefined for a record. */
export function damageOf(line: FileRecord): Exclude<LineOutcome, "held" | "imported"> | undefined {
  if (line.ok) return isDeeper(line.value, recordDepthMax) ? "too-deep" : undefined;
  if (line.reason === "blank" || line.reason === "too-long") return line.reason;
  return line.terminated ? line.reason : "torn";
}

function notA(
  wanted: SourceKind | "auto",
  path: string,
  found: SourceKind | undefined,
): BranchlogError {
  const { claude, codex } = transcriptNames;
  const wish = wanted === "auto" ? `${claude} or ${codex}` : transcriptNames[wanted];
  const what =
    found === undefined ? "no line of it is a record of one" : `it is ${transcriptNames[found]}`;
  const message = `${path} is not ${wish}: ${what}. Nothing was written.`;
  return new BranchlogError("ERR_NOT_A_SESSION", message, { path });
}

function unreadable(path: string, cause: unknown): BranchlogError {
  const reason = cause instanceof Error ? cause.message : String(cause);
  const message = `${path} cannot be read (${reason}). Check the path and its permissions.`;
  return new BranchlogError("ERR_LOG_UNREADABLE", message, { path, cause });
}
