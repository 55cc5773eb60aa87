/**
 * One append from request to result: migrates an older log first, runs the critical section, moves
 * the leaf, and says where each entry landed. Index and leaf change only after the bytes are in the
 * log; a failed append leaves both as they were, but for what it names as landed.
 */
import type { EncodedDraft } from "../entries/encode-entry.ts";
import { BranchlogError } from "../errors.ts";
import { planAppend } from "./append-plan.ts";
import type { AppendItem, AppendPlan, OnDiverged, PlannedEntry } from "./append-plan.ts";
import { appendSection } from "./append-section.ts";
import type { AppendLog, AppendOutcome } from "./append-section.ts";
import type { Engine } from "./engine.ts";
import type { LeafCursor } from "./leaf-cursor.ts";
import { migrate, needsMigration } from "./migration.ts";
import { requireKnownVersion } from "./open-outcome.ts";
import { sameContent } from "./same-content.ts";
import type { Steps } from "./steps.ts";

/** What to append, and on what conditions. */
export interface AppendRequest {
  readonly items: readonly AppendItem[];
  readonly onDiverged: OnDiverged;
  /** Undefined: whatever the tail is. */
  readonly expectedTail: string | null | undefined;
}

/** Where an entry is: its line starts at `offset` in that generation of the log. */
export interface Position {
  readonly generation: number;
  readonly offset: number;
}

/** The acknowledgement of one appended entry. */
export interface AppendResult {
  readonly id: string;
  readonly parentId: string | null;
  /** 1-based ordinal of the entry in its generation. */
  readonly revision: number;
  readonly position: Position;
  /** Others wrote at the same moment, so the entry stands elsewhere than planned. */
  readonly displaced: boolean;
  /** What the parent is: this session's leaf, the log's tail, or an entry that was named. */
  readonly attachedTo: PlannedEntry["attachedTo"];
}

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

/**
 * Appends the items in order as one write.
 * @throws BranchlogError as `planAppend`, `appendSection` and `migrate` say; `ERR_VERSION_NEWER`;
 * `ERR_INVALID_ARGUMENT` for a batch over `batchBytesMax`; `ERR_CONFLICT` with `landed` if the
 * expected tail was overtaken between check and write.
 */
export function* appendEntries(
  engine: Engine,
  request: AppendRequest,
  leaf: LeafCursor,
): Steps<readonly AppendResult[]> {
  requireVersion(engine);
  requireBatchSize(engine, request.items);
  if (request.items.length === 0) return [];
  const outcome = yield* write(engine, request, leaf);
  leaf.pin(outcome.plan.leafId);
  engine.markOwn();
  const results = outcome.plan.entries.map((entry) =>
    resultOf(engine, entry, outcome.displaced.has(entry.id)),
  );
  requireUndisturbed(engine, request, results);
  return results;
}

/** Migration and critical section, with every failure as an error that says what landed. */
function* write(engine: Engine, request: AppendRequest, leaf: LeafCursor): Steps<AppendOutcome> {
  const { log, path, settings } = engine;
  let plan: AppendPlan | undefined;
  try {
    if (needsMigration(log)) yield* migrate(log, settings.ports, settings.lockWaitMs);
    return yield* appendSection(appendLog(engine), settings.lockWaitMs, () => {
      plan = planFor(engine, request, leaf);
      return plan;
    });
  } catch (cause) {
    if (plan !== undefined) moveToLanded(leaf, plan, cause);
    if (cause instanceof BranchlogError && cause.code !== "ERR_LOG_UNREADABLE") throw cause;
    const reason = cause instanceof Error ? cause.message : String(cause);
    const message = `Nothing was appended to ${path} (${reason}). Append again once it works.`;
    throw new BranchlogError("ERR_APPEND_FAILED", message, { path, cause });
  }
}

/** What landed of a failed append is where its session goes on. */
function moveToLanded(leaf: LeafCursor, plan: AppendPlan, cause: unknown): void {
  if (!(cause instanceof BranchlogError)) return;
  const last = plan.entries.findLast(({ id }) => cause.landed.includes(id));
  if (last !== undefined) leaf.pin(last.leafId);
}

function planFor(engine: Engine, request: AppendRequest, leaf: LeafCursor): AppendPlan {
  const { index, bodies, settings, path } = engine;
  requireWritableForm(engine);
  const isLost = leaf.id !== null && index.rowOfId(leaf.id) < 0;
  return planAppend(index, request.items, {
    path,
    leafId: leaf.following && isLost ? engine.tailId : leaf.id,
    tailId: engine.tailId,
    othersAppended: engine.othersAppended,
    hasDiverged: engine.hasDiverged,
    onDiverged: request.onDiverged,
    expectedTail: request.expectedTail,
    mintId: () => settings.ports.ids.entryId(),
    sameContent: (row, item) => {
      const entry = bodies.entrySync(row);
      return entry !== undefined && sameContent(entry, item.encoded);
    },
  });
}

function resultOf(engine: Engine, entry: PlannedEntry, displaced: boolean): AppendResult {
  const { index, log } = engine;
  const row = index.rowOfId(entry.id);
  return {
    id: entry.id,
    parentId: entry.parentId,
    revision: row + 1,
    position: { generation: log.generation, offset: index.rows.offset(row) },
    displaced,
    attachedTo: entry.attachedTo,
  };
}

/** An expectation that was overtaken while the lock was lost is a conflict, though it landed. */
function requireUndisturbed(
  engine: Engine,
  request: AppendRequest,
  results: readonly AppendResult[],
): void {
  if (request.expectedTail === undefined || !results.some(({ displaced }) => displaced)) return;
  throw new BranchlogError(
    "ERR_CONFLICT",
    `Others wrote to ${engine.path} between the check of its tail and the write; the entries ` +
      "landed all the same. Look at the log before going on.",
    { path: engine.path, tail: engine.tailId, landed: results.map(({ id }) => id) },
  );
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

function requireBatchSize(engine: Engine, items: readonly AppendItem[]): void {
  const { batchBytesMax } = engine.settings;
  if (items.length < 2) return;
  let bytes = 0;
  for (const { encoded } of items) bytes += encoded.before.length + encoded.after.length;
  if (bytes <= batchBytesMax) return;
  throw new BranchlogError(
    "ERR_INVALID_ARGUMENT",
    `The batch of ${items.length} entries has ${bytes} bytes, more than batchBytesMax ` +
      `(${batchBytesMax}); nothing was written. Append it in parts.`,
    { path: engine.path },
  );
}

function appendLog({ log, path, settings }: Engine): AppendLog {
  return {
    path,
    ports: settings.ports,
    catchUp: () => log.catchUp(),
    get end() {
      return log.state.end;
    },
    get isTerminated() {
      return log.state.isTerminated;
    },
    writeSync: (bytes) => log.file.appendSync(bytes),
    statSync: () => log.file.statSync(),
    grewBy: (stat, bytes) => log.grewBy(stat, bytes),
    adopt: (bytes, stat) => log.adopt(bytes, stat),
    holds: (id, line) => log.holds(id, line),
  };
}
