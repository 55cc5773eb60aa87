/**
 * Appends from request to result: migrates an older log first, runs the critical section for all
 * calls that wait, moves their leaves, and says where each entry landed. Index and leaves change
 * only after the bytes are in the log; a failed append leaves both as they were, but for what it
 * names as landed.
 */
import type { EncodedDraft } from "../entries/encode-entry.ts";
import { BranchlogError } from "../errors.ts";
import { planGroup } from "./append-group.ts";
import type { AppendCall, AppendRequest, PlannedCall } from "./append-group.ts";
import { failedCall, landedCall, looseIds, notAppended } from "./append-outcome.ts";
import type { AppendOutcome, AppendResult } from "./append-outcome.ts";
import type { AppendItem } from "./append-plan.ts";
import { appendSection } from "./append-section.ts";
import type { LinePlan, LockUse, SectionOutcome } from "./append-section.ts";
import type { Engine } from "./engine.ts";
import type { Landing, PlannedLine } from "./landing.ts";
import { migrate, needsMigration } from "./migration.ts";
import { requireKnownVersion } from "./open-outcome.ts";
import { portStep } from "./steps.ts";
import type { Steps } from "./steps.ts";

/** Types whose entries describe the session and are attached so that they move nobody's leaf. */
const metadataTypes: ReadonlySet<string> = new Set(["label", "session_info", "title_change"]);

/**
 * An item for a draft, with the defaults of pi: a child of the leaf, with a new id.
 * @throws BranchlogError `ERR_INVALID_ARGUMENT` for an id that is empty, or no string.
 */
export function appendItem(
  encoded: EncodedDraft,
  parent?: AppendItem["parent"],
  id?: string,
): AppendItem {
  if (id === "" || typeof (id ?? "") !== "string") {
    const message = "An entry's id must be a string that is not empty: others name it as theirs";
    throw new BranchlogError("ERR_INVALID_ARGUMENT", message);
  }
  const isMetadata = metadataTypes.has(encoded.type);
  return { encoded, id, parent: parent ?? { kind: "leaf" }, isMetadata };
}

/** How many bytes the items have, but for ids and parents. */
export function bytesOf(items: readonly AppendItem[]): number {
  let bytes = 0;
  for (const { encoded } of items) bytes += encoded.before.length + encoded.after.length;
  return bytes;
}

/**
 * Refuses what is not to be written whatever the log holds.
 * @throws BranchlogError `ERR_READ_ONLY`; `ERR_VERSION_NEWER`; `ERR_INVALID_ARGUMENT` for a batch
 * over `batchBytesMax`.
 */
export function checkRequest(engine: Engine, { items }: AppendRequest): void {
  requireWritable(engine);
  const { batchBytesMax } = engine.settings;
  const bytes = items.length < 2 ? 0 : bytesOf(items);
  if (bytes <= batchBytesMax) return;
  throw new BranchlogError(
    "ERR_INVALID_ARGUMENT",
    `The batch of ${items.length} entries has ${bytes} bytes, more than batchBytesMax ` +
      `(${batchBytesMax}); nothing was written. Append it in parts.`,
    { path: engine.path },
  );
}

/**
 * Refuses to write through an engine that must not.
 * @throws BranchlogError `ERR_READ_ONLY`, `ERR_VERSION_NEWER`.
 */
export function requireWritable(engine: Engine): void {
  const { path, settings } = engine;
  if (settings.access === "read") {
    const message = `${path} is open for reading. Open it with access "append" to write to it.`;
    throw new BranchlogError("ERR_READ_ONLY", message, { path });
  }
  requireVersion(engine);
}

/**
 * Appends the items of one request in order as one write, for a driver that blocks. The lock may be
 * kept for the next of its kind.
 * @throws BranchlogError as {@link checkRequest}, `planAppend` and {@link appendCalls} say;
 * `ERR_APPEND_FAILED` and `ERR_APPEND_UNCERTAIN`, naming what landed; `ERR_CONFLICT` with `landed`
 * if the expected tail was overtaken between check and write; `ERR_DURABILITY_UNKNOWN`.
 */
export function* appendRequest(engine: Engine, call: AppendCall): Steps<readonly AppendResult[]> {
  checkRequest(engine, call.request);
  if (call.request.items.length === 0) return [];
  const returnedBy = keeps(engine) ? "lease" : "nobody";
  const group = yield* appendCalls(engine, () => [call], returnedBy);
  const [outcome] = group.outcomes;
  if (outcome === undefined) throw new Error("an append without an outcome");
  yield portStep("sync");
  const failure = syncFailure(engine, group);
  if (outcome.results === undefined) throw outcome.error;
  if (failure !== undefined) throw engine.durability.unknown(idsOf(outcome.results), failure.cause);
  return outcome.results;
}

/** What blocking until the bytes are durable came to; undefined: they are. */
function syncFailure(
  engine: Engine,
  { ids, hasWritten }: AppendedGroup,
): { cause: unknown } | undefined {
  try {
    engine.durability.wroteSync(ids, hasWritten);
    return undefined;
  } catch (cause) {
    return { cause };
  }
}

/** A sync takes so long that nobody else should wait for its end. */
function keeps({ durability }: Engine): boolean {
  return durability.mode !== "disk";
}

/** What a group came to, for a driver that waits. */
export interface QueuedGroup {
  /** In the order of the calls. They hold as far as the system is concerned. */
  readonly outcomes: readonly AppendOutcome[];
  /** Resolves once they hold as was promised; undefined: they do. */
  readonly durable: Promise<void> | undefined;
}

/**
 * Appends what waits in a queue as one write; see {@link appendCalls}. Syncing is under way when
 * the steps end, and the lock is free meanwhile. Else the lock may be kept: whoever runs the steps
 * releases the lease before the event loop goes on.
 */
export function* appendQueued(
  engine: Engine,
  take: () => readonly AppendCall[],
): Steps<QueuedGroup> {
  const returnedBy = keeps(engine) ? "appender" : "nobody";
  const { outcomes, ids, hasWritten } = yield* appendCalls(engine, take, returnedBy);
  const durable = outcomes.length === 0 ? undefined : engine.durability.wrote(ids, hasWritten);
  return { outcomes, durable };
}

/** What a group came to, as far as the system is concerned. */
interface AppendedGroup {
  /** In the order of the calls. */
  readonly outcomes: readonly AppendOutcome[];
  /**
   * Ids of what is in the log, or may be: also of calls that failed, and of what was retried. None
   * where nothing is to be synced.
   */
  readonly ids: readonly string[];
  /** Whether a line has landed. */
  readonly hasWritten: boolean;
}

/**
 * Appends what several calls ask for as one write, and answers each by itself.
 * @param take Called once the log is locked and caught up, for the calls to append.
 * @throws BranchlogError before anything is written: `ERR_LOCK_TIMEOUT`, `ERR_LOG_GONE`,
 * `ERR_MIGRATION`, `ERR_APPEND_FAILED`, `ERR_DURABILITY_UNKNOWN`, and what a log that was replaced
 * turns out to be.
 */
function* appendCalls(
  engine: Engine,
  take: () => readonly AppendCall[],
  keptLockIsReturnedBy: LockUse["keptLockIsReturnedBy"],
): Steps<AppendedGroup> {
  const { durability, log, path } = engine;
  const { ports, lockWaitMs } = engine.settings;
  let calls: readonly AppendCall[] | undefined;
  const plan = (): GroupPlan => {
    requireWritableForm(engine);
    durability.requireKnown();
    calls ??= take();
    const planned = planGroup(engine, calls);
    return { planned, lines: linesOf(planned), needsFence: durability.needsFence };
  };
  let section: SectionOutcome<GroupPlan>;
  try {
    if (needsMigration(log)) yield* migrate(log, ports, lockWaitMs);
    const use: LockUse = { ports, lockWaitMs, keptLockIsReturnedBy };
    section = yield* appendSection(log, use, plan);
  } catch (cause) {
    throw notAppended(path, cause);
  }
  return settleGroup(engine, section.plan, section.landing);
}

interface GroupPlan extends LinePlan {
  readonly planned: readonly PlannedCall[];
}

function settleGroup(
  engine: Engine,
  { planned, lines }: GroupPlan,
  landing: Landing,
): AppendedGroup {
  const loose = looseIds(
    planned.map(({ plan }) => plan),
    landing,
  );
  const outcomes = planned.map((one) =>
    one.plan === undefined
      ? failedCall(notAppended(engine.path, one.error))
      : landedCall(engine, one.call, one.plan, landing, loose),
  );
  const hasWritten = lines.some(({ id }) => !landing.missing.has(id));
  // What the system has is all that `os` promises.
  if (engine.durability.mode === "os") return { outcomes, ids: [], hasWritten };
  const ids = planned.flatMap(({ plan }) => plan?.entries ?? []).map(({ id }) => id);
  return { outcomes, ids, hasWritten };
}

/** The ids of results, in their order. */
export function idsOf(results: readonly AppendResult[]): readonly string[] {
  return results.map(({ id }) => id);
}

function linesOf(planned: readonly PlannedCall[]): readonly PlannedLine[] {
  const lines: PlannedLine[] = [];
  for (const { plan } of planned) {
    for (const { id, line } of plan?.entries ?? []) if (line !== null) lines.push({ id, line });
  }
  return lines;
}

function requireVersion({ settings, log, path }: Engine): void {
  const version = log.state.indexer.header?.version ?? 3;
  if (!settings.allowNewerVersion) requireKnownVersion(path, version);
}

/** Under the lock the log may turn out to have been replaced by one of another version. */
function requireWritableForm(engine: Engine): void {
  requireVersion(engine);
  if (!needsMigration(engine.log)) return;
  const { path } = engine;
  const message = `${path} was replaced by an older log; nothing was written. Append again.`;
  throw new BranchlogError("ERR_APPEND_FAILED", message, { path });
}
