/**
 * Conversion of a session file from one agent's dialect to another's, as a new file: indexed, then
 * copied in bounded memory, whatever its lines hold. What both agents say in the same way is copied
 * as bytes, lines that hold no record included. The source is only read.
 */
import { resolve } from "node:path";
import { decodeLine, readRange, readShallow } from "@branchlog/streaming";
import type { OptionNames } from "@branchlog/streaming";
import { isBranchlogError } from "@branchlog/core";
import type { EngineOptions } from "@branchlog/core/types";
import {
  Engine,
  createStreamedLog,
  creationFailed,
  currentVersion,
  entryForm,
  inBatches,
  migratedChunks,
  requireFree,
  requireOptions,
  requireSameLog,
  requireText,
  temporaryPath,
} from "@branchlog/core/internal";
import type { ConversionTarget } from "./convert-entry.ts";
import { convertedChunks } from "./converted-bytes.ts";
import { LineConverter, dialectOfRows } from "./line-converter.ts";

/** What to convert to, and where. */
export interface ConvertOptions extends Pick<EngineOptions, "ports" | "lineBytesMax"> {
  /** The agent that the new file is for. */
  readonly to: ConversionTarget;
  /** Path of the new file; there must be nothing. */
  readonly target: string;
  /** Ends the work with the signal's reason, until the new file has its name. */
  readonly signal?: AbortSignal | undefined;
}

const convertNames: OptionNames<ConvertOptions> = {
  ports: true,
  lineBytesMax: true,
  to: true,
  target: true,
  signal: true,
};

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
  const { signal, ...settings } = requireOptions(options, convertNames);
  const path = resolve(requireText("The source", source));
  const engine = await Engine.open(path, { ...settings, access: "read" }, signal);
  try {
    const version = engine.log.state.indexer.header?.version ?? currentVersion;
    if (entryForm(version) === currentVersion) return await converted(engine, options);
    const current = await migratedCopy(engine, options);
    try {
      return { ...(await convertSession(current, options)), source: engine.path };
    } finally {
      engine.settings.ports.fs.unlinkSync(current);
    }
  } finally {
    engine.release();
  }
}

async function converted(
  engine: Engine,
  { to, target, signal }: ConvertOptions,
): Promise<ConversionResult> {
  const { index, settings } = engine;
  const path = resolve(target);
  const converter = new LineConverter(to);
  const rows = Array.from({ length: index.count }, (_, row) => row);
  const ofEntries = await dialectOfRows(engine, rows, to);
  if (to === "pi") {
    const isReset = (row: number): boolean => index.kindOf(row).type === "reset_boundary";
    converter.counts.resets = rows.filter(isReset).length;
  }
  requireFree(settings.ports, path);
  const chunks = convertedChunks({ engine, to, ofEntries, converter });
  await createStreamedLog(settings.ports, path, inBatches(chunks, signal));
  const counts = { entries: index.count, badLines: badLines(engine) };
  return { path, source: engine.path, to, ...counts, ...converter.counts };
}

/** Lines that hold no record, an unterminated end of the log included. */
function badLines({ log, settings }: Engine): number {
  const { file, size, state } = log;
  const [from, length] = [state.committedEnd, size - state.committedEnd];
  const found = state.indexer.diagnostics.count("bad-line");
  if (length === 0 || state.pendingRow >= 0) return found;
  const bytes = readRange(file, from, length);
  const isLong = length > settings.lineBytesMax;
  const rest = isLong ? readShallow(bytes, {}) : decodeLine(Buffer.concat([...bytes]));
  return found + (rest.ok || rest.reason === "blank" ? 0 : 1);
}

/** A copy in the current version, beside the target, for the caller to remove. */
async function migratedCopy(engine: Engine, { target, signal }: ConvertOptions): Promise<string> {
  const { ports } = engine.settings;
  requireFree(ports, resolve(target));
  const path = temporaryPath(ports, resolve(target));
  try {
    await createStreamedLog(ports, path, inBatches(migratedWhole(engine), signal));
  } catch (error) {
    // The caller did not ask for this file, and its name says nothing: the one asked for fails.
    if (!isBranchlogError(error, "ERR_CREATE_FAILED")) throw error;
    throw creationFailed(resolve(target), error.cause);
  }
  return path;
}

function* migratedWhole(engine: Engine): Generator<Buffer> {
  const { file, state } = engine.log;
  yield* migratedChunks(file, state, 0, state.end);
  requireSameLog(engine);
}
