/**
 * Forks one branch of a session into a new session that names its source. The source is only read,
 * in bounded memory; the fork appears under its name whole or not at all.
 */
import type { OptionNames } from "@branchlog/streaming";
import { requireOptions } from "../argument-checks.ts";
import { dirname, resolve } from "node:path";
import { BranchlogError } from "../errors.ts";
import type { SessionHeader } from "../entries/entry-types.ts";
import { rowFlags } from "../index-table/row-table.ts";
import { Engine } from "../session/engine.ts";
import type { EngineOptions } from "../log/engine-options.ts";
import { engineSettings } from "../log/engine-options.ts";
import { copiedPath, pathEndRow } from "../session/entry-query.ts";
import { newHeader } from "../session/new-header.ts";
import {
  createStreamedLog,
  inBatches,
  requireFree,
  inLargeChunks,
} from "../platform/atomic-file.ts";
import { branchTo } from "./branched-session.ts";
import type { Branch } from "./branched-session.ts";
import { sessionPath } from "./session-header.ts";
import { isInStore } from "../store/log-store.ts";
import type { LogStore, StoredSession } from "../store/log-store.ts";
import { requireSameLog } from "../session/same-log.ts";

/** Options of {@link forkSession}. */
export interface ForkOptions extends Pick<EngineOptions, "ports" | "lineBytesMax"> {
  /** The entry at which the fork ends. Default: the last one of the source. */
  readonly at?: string | undefined;
  /**
   * The path of the fork. Default: next to the source, under a name made from time and id of the
   * fork; of a source in a store, there, under its id.
   */
  readonly target?: string | undefined;
  /** Default: a new UUIDv7. */
  readonly id?: string | undefined;
  /** Default: that of the source. */
  readonly cwd?: string | undefined;
  /** Cancels until the fork has its name. */
  readonly signal?: AbortSignal | undefined;
}

const forkNames: OptionNames<ForkOptions> = {
  ports: true,
  lineBytesMax: true,
  at: true,
  target: true,
  id: true,
  cwd: true,
  signal: true,
};

/** A created fork. */
export interface ForkResult {
  /** Of one in a store, its address. */
  readonly path: string;
  readonly id: string;
  /** Canonical path of the source, the `parentSession` in the header of the fork. */
  readonly source: string;
  /** The last copied entry; null if the source has none. */
  readonly at: string | null;
  /** Number of copied entries. */
  readonly entries: number;
}

/**
 * Creates a session from the branch that ends at an entry: its entries with their ids and bytes,
 * except labels, which follow as new entries with the name if they are in force on that branch. The
 * context at the end of the fork is that of the source at the entry; of a transcript that has lost
 * a parent, that of `context({ bridgeGaps: true })`. The file has mode 0600. No partial fork
 * remains after an error.
 * @throws BranchlogError as `openSession`; `ERR_ENTRY_NOT_FOUND`, `ERR_INVALID_SESSION_ID`,
 * `ERR_LOG_EXISTS`, `ERR_CREATE_FAILED`, `ERR_LOG_CHANGED`; `ERR_INVALID_ARGUMENT` for a transcript
 * of another agent without a target.
 * @example
 * const { path } = await forkSession("session.jsonl", { at: "5b2e9d04" });
 */
export async function forkSession(
  source: string | StoredSession,
  options: ForkOptions = {},
): Promise<ForkResult> {
  const { signal } = requireOptions(options, forkNames);
  const engine = await Engine.openAt(source, { ...options, access: "read" }, signal);
  try {
    const store = isInStore(source) ? source.store : undefined;
    const branch = await readBranch(engine, options);
    return await writeBranch(engine, branch, options, store);
  } finally {
    engine.release();
  }
}

export interface CopyOptions extends ForkOptions {
  /** When the copy began, ISO 8601. Default: now. */
  readonly timestamp?: string | undefined;
}

/** The branch that {@link writeBranch} copies to a session. Throws `ERR_ENTRY_NOT_FOUND`. */
export async function readBranch(
  engine: Engine,
  { at, signal }: Pick<ForkOptions, "at" | "signal">,
): Promise<Branch> {
  const leafRow = pathEndRow(engine, at);
  await confirmPath(engine, leafRow, signal);
  return branchTo(engine, leafRow);
}

/** As {@link forkSession}, from a session that is open. */
export async function writeBranch(
  engine: Engine,
  branch: Branch,
  options: CopyOptions,
  store?: LogStore,
): Promise<ForkResult> {
  const { signal, id, timestamp } = options;
  const { path: parentSession, settings, index, dialect } = engine;
  const { header: copied } = engine;
  const cwd = options.cwd ?? storedCwd(copied);
  const header = newHeader(settings.ports, cwd, {
    id,
    timestamp,
    parentSession,
    dialect,
    copied,
  });
  let entries = 0;
  const counted = (): void => {
    entries += 1;
  };
  const chunks = inBatches(forkChunks(engine, branch, header, counted), signal);
  let path: string;
  if (store !== undefined && options.target === undefined) {
    path = (await store.create(header.id, chunks)).address;
  } else {
    const { ports } = engineSettings(options);
    path = resolve(options.target ?? sessionPath(directoryOfForks(engine), header));
    requireFree(ports, path);
    await createStreamedLog(ports, path, chunks);
  }
  const last = branch.rows.at(-1);
  const end = last === undefined ? null : index.idOf(last);
  return { path, id: header.id, source: parentSession, at: end, entries };
}

/** Next to the source. Throws for a transcript: its directory is another agent's. */
function directoryOfForks({ path, log }: Engine): string {
  const { owner } = log;
  if (owner === undefined) return dirname(path);
  const message =
    `${path} is ${owner.noun}: nothing is created next to it. Specify the ` +
    "path of the fork with target, or -o.";
  throw new BranchlogError("ERR_INVALID_ARGUMENT", message, { path });
}

/** Parses asynchronously what copying would otherwise parse synchronously. */
async function confirmPath(
  engine: Engine,
  leafRow: number,
  signal: AbortSignal | undefined,
): Promise<void> {
  const { rows } = engine.index;
  const { bodies, settings } = engine;
  const isShort = (row: number): boolean => rows.length(row) <= settings.lineBytesMax;
  const unsure = copiedPath(engine, leafRow).filter(
    (row) => rows.is(row, rowFlags.provisional) && isShort(row),
  );
  for await (const _ of bodies.entries(unsure, signal)) continue;
}

function* forkChunks(
  engine: Engine,
  branch: Branch,
  header: SessionHeader,
  onEntry: () => void,
): Generator<Buffer> {
  yield* inLargeChunks(branch.lines(header, onEntry));
  requireSameLog(engine);
}

function storedCwd(header: SessionHeader): string {
  // Decoding boundary: of the header only the id was checked.
  const cwd: unknown = header.cwd;
  return typeof cwd === "string" ? cwd : process.cwd();
}
