/**
 * Reads a source line by line, up to the size that it had at the start; recognises its kind by the
 * first records. The file is opened to read, and nothing is ever written to it.
 */
import { statSync } from "node:fs";
import type { Stats } from "node:fs";
import { records } from "@branchlog/streaming";
import type { FileRecord, ReadFileOptions } from "@branchlog/streaming";
import { BranchlogError } from "@branchlog/core";
import type { SourceKind } from "@branchlog/core/types";
import {
  LogFile,
  errorCodeOf,
  headBytesMax,
  headLinesMax,
  isDeeper,
  matchesFingerprint,
  kindOf,
  logChanged,
  nodeFileSystem,
  fingerprintOf,
  transcriptNames,
} from "@branchlog/core/internal";
import { recordDepthMax } from "./limits.ts";
import type { LineOutcome } from "./line-tally.ts";
import { FactsGatherer } from "./source-facts.ts";
import type { SourceFacts } from "./source-facts.ts";

/** The first lines of a source, and what they tell. */
export interface SourceHead {
  readonly lines: readonly FileRecord[];
  readonly facts: SourceFacts;
}

/**
 * Size of a source, in bytes.
 * @throws BranchlogError `ERR_LOG_MISSING`, `ERR_LOG_EMPTY`, `ERR_LOG_UNREADABLE`.
 */
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
 * A check, for when all of a source was read, that it still is what it is now, or that and more.
 * @throws BranchlogError `ERR_LOG_CHANGED`, by the check, for one that was replaced or rewritten.
 */
export function sourceCheck(path: string, size: number): () => void {
  const named = new LogFile(nodeFileSystem, path);
  const stat = named.statSync();
  if (stat === null) throw logChanged(path);
  const file = named.adopted(stat);
  const remembered = fingerprintOf(file, size);
  return () => {
    const now = file.statSync();
    const isSame = now !== null && file.isAt(now) && now.size >= size;
    if (!isSame || !matchesFingerprint(file, remembered)) throw logChanged(path);
  };
}

/**
 * The lines of a source, up to `to`.
 * @throws BranchlogError `ERR_LOG_UNREADABLE`; the signal's reason.
 */
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
 * Reads lines until the kind, id, directory and start of a source are known, or the limits are met.
 * @throws BranchlogError `ERR_NOT_A_SESSION` if no record tells the kind, or one of another kind
 * than that asked for comes first.
 */
export async function readHead(
  path: string,
  lines: AsyncGenerator<FileRecord, void, undefined>,
  wanted: SourceKind | "auto",
): Promise<SourceHead> {
  const head: FileRecord[] = [];
  let gatherer: FactsGatherer | undefined;
  let bytes = 0;
  while (head.length < headLinesMax && bytes < headBytesMax) {
    const next = await lines.next();
    if (next.done === true) break;
    const line = next.value;
    head.push(line);
    bytes += line.length;
    if (!line.ok) continue;
    const kind = kindOf(line.value);
    gatherer ??= kind === undefined ? undefined : new FactsGatherer(kind);
    gatherer?.add(line.value);
    if (gatherer?.isComplete === true) break;
  }
  if (gatherer === undefined || (wanted !== "auto" && gatherer.kind !== wanted)) {
    throw notA(wanted, path, gatherer?.kind);
  }
  return { lines: head, facts: gatherer.facts() };
}

/** Why a line cannot be mapped at all; undefined for a record. */
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
  const wish =
    wanted === "auto"
      ? `${transcriptNames.claude} or ${transcriptNames.codex}`
      : transcriptNames[wanted];
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
