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
import type { Engine } from "./engine.ts";
import type { PlannedLine } from "./landing.ts";
import { migrate, needsMigration } from "./migration.ts";
import { requireKnownVersion } from "./open-outcome.ts";
import type { Steps } from "./steps.ts";

/** Types whose entries describe the session and are attached so that they move nobody's leaf. */
const metadataTypes: ReadonlySet<string> = new Set(["label", "session_info"]);

/**
 * An item for a draft, with the defaults of pi: a child of the leaf, with a new id.
 * @throws BranchlogError `ERR_INVALID_ARGUMENT` for an empty id.
 */
export function appendItem(
  encoded: EncodedDraft,
  parent?: AppendItem["parent"],
  id?: string,
): AppendItem {
  if (id === "") {
    const message = "An entry's id must not be empty: no other entry could name it as its parent";
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
  const { access, batchBytesMax } = engine.settings;
  const { path } = engine;
  if (access === "read") {
    const message = `${path} is open for reading. Open it with access "append" to write to it.`;
    throw new BranchlogError("ERR_READ_ONLY", message, { path });
  }
  requireVersion(engine);
  const bytes = items.length < 2 ? 0 : bytesOf(items);
  if (bytes <= batchBytesMax) return;
  throw new BranchlogError(
    "ERR_INVALID_ARGUMENT",
    `The batch of ${items.length} entries has ${bytes} bytes, more than batchBytesMax ` +
      `(${batchBytesMax}); nothing was written. Append it in parts.`,
    { path },
  );
}

/**
 * Appends the items of one request in order as one write.
 * @throws BranchlogError as {@link checkRequest}, `planAppend` and {@link appendCalls} say;
 * `ERR_APPEND_FAILED` and `ERR_APPEND_UNCERTAIN`, naming what landed; `ERR_CONFLICT` with `landed`
 * if the expected tail was overtaken between check and write.
 */
export function* appendRequest(
  engine: Engine,
  call: AppendCall,
  mayKeepLock: boolean,
): Steps<readonly AppendResult[]> {
  checkRequest(engine, call.request);
  if (call.request.items.length === 0) return [];
  const [outcome] = yield* appendCalls(engine, () => [call], mayKeepLock);
  if (outcome === undefined) throw new Error("an append without an outcome");
  if (outcome.results === undefined) throw outcome.error;
  return outcome.results;
}

/**
 * Appends what several calls ask for as one write, and answers each by itself, in their order.
 * @param take Called once the log is locked and caught up, for the calls to append.
 * @param mayKeepLock The steps are run synchronously, and may be followed by more of their kind.
 * @throws BranchlogError before anything is written: `ERR_LOCK_TIMEOUT`, `ERR_LOG_GONE`,
 * `ERR_MIGRATION`, `ERR_APPEND_FAILED`, and what a log that was replaced turns out to be.
 */
export function* appendCalls(
  engine: Engine,
  take: () => readonly AppendCall[],
  mayKeepLock: boolean,
): Steps<readonly AppendOutcome[]> {
  const { log, path } = engine;
  const { ports, lockWaitMs } = engine.settings;
  let calls: readonly AppendCall[] | undefined;
  const plan = (): { planned: readonly PlannedCall[]; lines: readonly PlannedLine[] } => {
    requireWritableForm(engine);
    calls ??= take();
    const planned = planGroup(engine, calls);
    return { planned, lines: planned.flatMap(linesOf) };
  };
  try {
    if (needsMigration(log)) yield* migrate(log, ports, lockWaitMs);
    const lock = { ports, lockWaitMs, mayKeepLock };
    const {
      plan: { planned },
      landing,
    } = yield* appendSection(log, lock, plan);
    const loose = looseIds(
      planned.map((one) => one.plan),
      landing,
    );
    return planned.map((one) =>
      one.plan === undefined
        ? failedCall(notAppended(path, one.error))
        : landedCall(engine, one.call, one.plan, landing, loose),
    );
  } catch (cause) {
    throw notAppended(path, cause);
  }
}

function linesOf({ plan }: PlannedCall): readonly PlannedLine[] {
  if (plan === undefined) return [];
  return plan.entries.flatMap(({ id, line }) => (line === null ? [] : [{ id, line }]));
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
