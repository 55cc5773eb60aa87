/**
 * Conversion of a session file from one agent's dialect to another's, as a new file: two passes in
 * bounded memory, whatever the size of the file. What both agents say in the same way is copied as
 * bytes, lines that hold no record included. The source is only read.
 */
import { resolve } from "node:path";
import { LineFramer, scan } from "@branchlog/streaming";
import { isBranchlogError } from "@branchlog/core";
import type { EngineOptions } from "@branchlog/core/types";
import {
  Engine,
  LogFile,
  createStreamedLog,
  creationFailed,
  currentVersion,
  engineSettings,
  entryForm,
  inBatches,
  migratedChunks,
  requireFile,
  requireFree,
  requireHeader,
  requireOptions,
  requireSameLog,
  requireText,
  temporaryPath,
  unchangedCheck,
} from "@branchlog/core/internal";
import type { ConversionTarget } from "./convert-entry.ts";
import { ConversionScan } from "./conversion-scan.ts";
import { convertedChunks } from "./converted-bytes.ts";
import type { Conversion } from "./converted-bytes.ts";
import { keptEntryFinder } from "./kept-entries.ts";
import { LineConverter } from "./line-converter.ts";

/** What to convert to, and where. */
export interface ConvertOptions extends Pick<EngineOptions, "ports" | "lineBytesMax"> {
  /** The agent that the new file is for. */
  readonly to: ConversionTarget;
  /** Path of the new file; there must be nothing. */
  readonly target: string;
  /** Ends the work with the signal's reason, until the new file has its name. */
  readonly signal?: AbortSignal | undefined;
}

/** A converted session that is there. */
export interface ConversionResult {
  /** Path of the new file. */
  readonly path: string;
  /** Canonical path of the source. */
  readonly source: string;
  readonly to: ConversionTarget;
  /** Entries of the source. */
  readonly entries: number;
  /** How many entries changed, by their type in the source. */
  readonly converted: Readonly<Record<string, number>>;
  /** Lines that hold no record; they were copied as they are. */
  readonly badLines: number;
  /** Whether an entry with the name was added, which the source has elsewhere. */
  readonly addedName: boolean;
  /**
   * Resets of omp (`reset_boundary`) in a session for pi. They stay as they are, but pi does not
   * know them: after them, its model sees what omp's does not see any more.
   */
  readonly resets: number;
}

/**
 * Writes a session in the dialect of an agent. Ids, parents, times and the order of entries stay;
 * what the other agent has no form for stays as it is. A session of version 1 or 2 is brought to
 * version 3 on the way. The file has mode 0600.
 * @throws BranchlogError as `openSession`; `ERR_LOG_EXISTS`, `ERR_CREATE_FAILED`,
 * `ERR_LOG_CHANGED`. There is no part of a new file then.
 * @example
 * await convertSession("pi.jsonl", { to: "omp", target: "omp.jsonl" });
 */
export async function convertSession(
  source: string,
  options: ConvertOptions,
): Promise<ConversionResult> {
  const settings = engineSettings(requireOptions(options));
  const named = new LogFile(settings.ports.fs, resolve(requireText("The source", source)));
  const stat = requireFile(named.path, named.statSync());
  const file = named.adopted(stat);
  return file.whileRetained(() => convertedFile(file, stat.size, options));
}

async function convertedFile(
  file: LogFile,
  size: number,
  options: ConvertOptions,
): Promise<ConversionResult> {
  const { to, target, signal } = options;
  const { ports, lineBytesMax } = engineSettings(options);
  const requireSame = unchangedCheck(file, size, file.path);
  const found = new ConversionScan(file, to);
  const framer = new LineFramer({ lineBytesMax });
  await scan(file, framer, found, { from: 0, to: size, signal });
  found.end(framer.rest());
  const { version } = requireHeader(file, found, size);
  const path = resolve(target);
  if (entryForm(version) !== currentVersion) {
    requireFree(ports, path);
    const current = await migratedCopy(file.path, options);
    try {
      return { ...(await convertSession(current, options)), source: file.path };
    } finally {
      ports.fs.unlinkSync(current);
    }
  }
  const converter = new LineConverter(to);
  if (to === "pi") converter.counts.resets = found.resets;
  const keptEntry = await keptEntries(file.path, found, options);
  requireFree(ports, path);
  const { ids } = ports;
  const chunks = convertedChunks({ file, size, found, to, ids, keptEntry, converter, requireSame });
  await createStreamedLog(ports, path, inBatches(chunks, signal));
  const { entries, badLines } = found;
  return { path, source: file.path, to, entries, badLines, ...converter.counts };
}

/** Only what a few newer logs of omp hold needs their tree, and is worth indexing them for it. */
async function keptEntries(
  path: string,
  { hasReplays }: ConversionScan,
  { to, signal, ...options }: ConvertOptions,
): Promise<Conversion["keptEntry"]> {
  if (to !== "pi" || !hasReplays) return () => undefined;
  return keptEntryFinder(await Engine.open(path, { ...options, access: "read" }, signal));
}

/** A copy in the current version, beside the target, for the caller to remove. */
async function migratedCopy(source: string, options: ConvertOptions): Promise<string> {
  const engine = await Engine.open(source, { ...options, access: "read" }, options.signal);
  const { ports } = engine.settings;
  const path = temporaryPath(ports, resolve(options.target));
  try {
    await createStreamedLog(ports, path, inBatches(migratedWhole(engine), options.signal));
  } catch (error) {
    // The caller did not ask for this file: the error is about the one that was asked for.
    if (!isBranchlogError(error, "ERR_CREATE_FAILED")) throw error;
    throw creationFailed(resolve(options.target), error.cause);
  } finally {
    engine.release();
  }
  return path;
}

function* migratedWhole(engine: Engine): Generator<Buffer> {
  const { file, state } = engine.log;
  yield* migratedChunks(file, state, 0, state.end);
  requireSameLog(engine);
}
