/**
 * Appends to one log for one owner. Index and leaves change only after the bytes are in the log; a
 * failed append leaves both as they were, except for entries that its error names as written.
 */
import { portStep, runSync } from "@branchlog/streaming";
import type { Steps } from "@branchlog/streaming";
import { ompEntryIdLength } from "../dialects/dialect.ts";
import type { DialectName } from "../dialects/dialect.ts";
import { copyAdvice } from "../dialects/agent.ts";
import type { SessionOwner } from "../dialects/agent.ts";
import { divergenceText } from "../entries/divergence.ts";
import type { SessionEntry } from "../entries/entry-types.ts";
import { danglingText } from "../entries/references.ts";
import { BranchlogError, isBranchlogError } from "../errors.ts";
import { entryPlace } from "../index-table/diagnostics.ts";
import type { IndexTable } from "../index-table/index-table.ts";
import { tailRow } from "../index-table/tree-walk.ts";
import type { CommitOutcome, CommitTask } from "../log/commit.ts";
import type { AppendVerification, LinePlan, PlannedLine } from "../log/line-plan.ts";
import type { EngineSettings } from "../log/engine-options.ts";
import { requireKnownVersion } from "../log/log-checks.ts";
import type { LogDurability } from "../log/log-durability.ts";
import { migrate, needsMigration } from "../log/migration.ts";
import type { TrackedLog } from "../log/tracked-log.ts";
import type { ReleasePolicy } from "../platform/lock.ts";
import { failedCall, idsOf, notAppended, outcomeOf } from "./append-result.ts";
import { uncertainCalls, unreachableIds } from "./append-result.ts";
import type { AppendOutcome, AppendResult, WrittenLog } from "./append-result.ts";
import type { LeafCursor } from "./leaf-cursor.ts";
import { movesLeaf, planGroup } from "./plan.ts";
import type { PlannedAppend, PlannedCall } from "./plan.ts";
import type { AppendTarget, PlannedEntry } from "./planned-log.ts";
import { ReadMarks } from "./read-marks.ts";
import { bytesOf, dependsOnOthers } from "./request.ts";
import type { AppendCall, AppendRequest, RequestedLog } from "./request.ts";

export interface QueuedGroup {
  readonly outcomes: readonly AppendOutcome[];
  /** Resolves once the outcomes are as durable as promised; undefined: they are. */
  readonly durable: Promise<void> | undefined;
}

interface AppendedGroup {
  readonly outcomes: readonly AppendOutcome[];
  /** Of lines that are or may be in the log, also of failed calls; empty if nothing is to sync. */
  readonly ids: readonly string[];
  readonly hasWritten: boolean;
}

interface GroupPlan extends LinePlan {
  readonly planned: readonly PlannedCall[];
  readonly entries: readonly PlannedEntry[];
}

const beforeSync = portStep("sync");

export class Appender implements AppendTarget, RequestedLog, WrittenLog {
  readonly settings: EngineSettings;
  readonly log: TrackedLog;
  readonly durability: LogDurability;
  readonly marks: ReadMarks;

  constructor(settings: EngineSettings, log: TrackedLog, durability: LogDurability) {
    this.settings = settings;
    this.log = log;
    this.durability = durability;
    this.marks = new ReadMarks(log);
  }

  get path(): string {
    return this.log.path;
  }

  get index(): IndexTable {
    return this.log.state.index;
  }

  get generation(): number {
    return this.log.generation;
  }

  get tailId(): string | null {
    const { transcript } = this.log.state.indexer;
    if (transcript !== undefined) return transcript.tailId;
    const row = tailRow(this.index);
    return row < 0 ? null : this.index.idOf(row);
  }

  get dialect(): DialectName {
    return this.settings.dialect ?? this.log.state.dialect;
  }

  mintEntryId(): string {
    const { ids } = this.settings.ports;
    return this.dialect === "omp" ? ids.urlSafeId(ompEntryIdLength) : ids.entryId();
  }

  entrySync(id: string): SessionEntry | undefined {
    const row = this.index.rowOfId(id);
    return row < 0 ? undefined : this.log.state.bodies.entrySync(row);
  }

  #report({ id, diverged, dangling }: PlannedEntry): void {
    if (diverged === undefined && dangling === undefined) return;
    const { index, indexer } = this.log.state;
    const place = entryPlace(indexer, index.rowOfId(id));
    const { diagnostics } = indexer;
    if (diverged !== undefined) {
      const reason = divergenceText(diverged);
      diagnostics.add({ kind: "diverged", reason, count: diverged.entryCount, ...place });
    }
    if (dangling !== undefined) {
      diagnostics.add({ kind: "dangling-reference", reason: danglingText(dangling), ...place });
    }
  }

  requireWritable(): void {
    const { path, settings } = this;
    const { owner } = this.log;
    if (owner !== undefined) throw foreignLog(path, owner);
    if (settings.access === "read") {
      const message = `${path} is open for reading. Open it with access "append" to write to it.`;
      throw new BranchlogError("ERR_READ_ONLY", message, { path });
    }
    this.#requireVersion();
  }

  check({ items }: AppendRequest): void {
    this.requireWritable();
    const { batchBytesMax } = this.settings;
    const bytes = items.length < 2 ? 0 : bytesOf(items);
    if (bytes <= batchBytesMax) return;
    throw new BranchlogError(
      "ERR_INVALID_ARGUMENT",
      `The batch of ${items.length} entries has ${bytes} bytes, more than batchBytesMax ` +
        `(${batchBytesMax}); nothing was written. Append it in parts.`,
      { path: this.path },
    );
  }

  appendSync(request: AppendRequest, leaf: LeafCursor): readonly AppendResult[] {
    return runSync(this.append(request, leaf));
  }

  /** For a driver that blocks. Throws as `Session.append`; `written` names what was written. */
  *append(request: AppendRequest, leaf: LeafCursor): Steps<readonly AppendResult[]> {
    this.check(request);
    if (request.items.length === 0) return [];
    const group = yield* this.#appendCalls(leaf, () => [{ request }], "microtask");
    const [outcome] = group.outcomes;
    if (outcome === undefined) throw new Error("an append without an outcome");
    yield beforeSync;
    let failure: { readonly cause: unknown } | undefined;
    try {
      this.durability.wroteSync(group.ids, group.hasWritten);
    } catch (cause) {
      failure = { cause };
    }
    if (outcome.results === undefined) throw outcome.error;
    if (failure !== undefined) throw this.durability.unknown(idsOf(outcome.results), failure.cause);
    return outcome.results;
  }

  /**
   * When the steps end, syncing continues without the lock; otherwise the lock may be retained, and
   * the driver releases it before the event loop continues.
   */
  *appendQueued(leaf: LeafCursor, take: () => readonly AppendCall[]): Steps<QueuedGroup> {
    const { outcomes, ids, hasWritten } = yield* this.#appendCalls(leaf, take, "caller");
    const durable = outcomes.length === 0 ? undefined : this.durability.wrote(ids, hasWritten);
    return { outcomes, durable };
  }

  /** Throws only if nothing was written. `take` is called under the lock. */
  *#appendCalls(
    leaf: LeafCursor,
    take: () => readonly AppendCall[],
    retained: Exclude<ReleasePolicy, "immediate">,
  ): Steps<AppendedGroup> {
    const { durability, log, path } = this;
    const { ports, lockWaitMs } = this.settings;
    // A sync takes so long that no other appender should wait for its end.
    const releasePolicy: ReleasePolicy = durability.mode === "disk" ? "immediate" : retained;
    let done: CommitOutcome<GroupPlan>;
    let last: GroupPlan | undefined;
    try {
      if (needsMigration(log)) yield* migrate(log, ports, lockWaitMs);
      const work = {
        ports,
        lockWaitMs,
        releasePolicy,
        take: () => this.#taskOf(leaf, take(), (plan) => (last = plan)),
      };
      done = yield* log.commit(work);
    } catch (cause) {
      const isUncertain = isBranchlogError(cause, "ERR_APPEND_UNCERTAIN");
      if (last === undefined || !isUncertain) throw notAppended(path, cause);
      return { outcomes: uncertainCalls(path, last.planned, cause), ids: [], hasWritten: false };
    }
    return this.#groupOf(leaf, done.plan, done.verification);
  }

  #taskOf(
    leaf: LeafCursor,
    calls: readonly AppendCall[],
    note: (plan: GroupPlan) => GroupPlan,
  ): CommitTask<GroupPlan> {
    return {
      requiresCatchUp:
        (leaf.id !== null && this.index.rowOfId(leaf.id) < 0) ||
        calls.some(({ request }) => dependsOnOthers(request)),
      plan: () => {
        this.#requireWritableForm();
        this.durability.requireKnown();
        const planned = planGroup(this, this.marks, leaf, calls);
        const entries: PlannedEntry[] = [];
        const lines: PlannedLine[] = [];
        for (const { plan } of planned) {
          for (const entry of plan?.entries ?? []) {
            entries.push(entry);
            if (isLine(entry)) lines.push(entry);
          }
        }
        const hasRetries = lines.length < entries.length;
        const { needsSeparator } = this.durability;
        return note({ planned, entries, lines, hasRetries, needsSeparator });
      },
    };
  }

  #groupOf(
    leaf: LeafCursor,
    { planned, entries, lines }: GroupPlan,
    verification: AppendVerification,
  ): AppendedGroup {
    const unreachable = unreachableIds(entries, verification);
    const outcomes = planned.map((one) =>
      one.plan === undefined
        ? failedCall(notAppended(this.path, one.error))
        : this.#settle(leaf, one, verification, unreachable),
    );
    const hasWritten = lines.some(({ id }) => !verification.missing.has(id));
    // `os` promises no more than the write.
    if (this.durability.mode === "os") return { outcomes, ids: [], hasWritten };
    return { outcomes, ids: entries.map(({ id }) => id), hasWritten };
  }

  /** Moves the leaf of the caller, and notes what it knows of the log now. */
  #settle(
    leaf: LeafCursor,
    { call, plan }: PlannedAppend,
    verification: AppendVerification,
    unreachable: ReadonlySet<string>,
  ): AppendOutcome {
    const told = outcomeOf(this, call.request, plan, verification, unreachable);
    if (told.leafId !== undefined) leaf.pin(told.leafId);
    if (!told.isWhole) return told.outcome;
    // Metadata attached elsewhere leaves the leaf before the entries of others.
    const isAtLeaf = plan.entries.some(movesLeaf);
    if (isAtLeaf) this.marks.setOwn();
    for (const entry of plan.entries) {
      if (!isAtLeaf) this.marks.setKnown(this.index.rowOfId(entry.id));
      if (entry.line !== null) this.#report(entry);
    }
    return told.outcome;
  }

  #requireVersion(): void {
    const version = this.log.state.indexer.header?.version ?? 3;
    if (!this.settings.allowNewerVersion) requireKnownVersion(this.path, version);
  }

  /** Under the lock the log may turn out to have been replaced by one of another version. */
  #requireWritableForm(): void {
    this.#requireVersion();
    if (!needsMigration(this.log)) return;
    const { path } = this;
    const message = `${path} was replaced by an older log; nothing was written. Append again.`;
    throw new BranchlogError("ERR_APPEND_FAILED", message, { path });
  }
}

function isLine(entry: PlannedEntry): entry is PlannedEntry & PlannedLine {
  return entry.line !== null;
}

function foreignLog(path: string, { noun }: SessionOwner): BranchlogError {
  const message =
    `${path} is ${noun}, which only that agent writes to. It was not changed. ` + copyAdvice;
  return new BranchlogError("ERR_READ_ONLY", message, { path });
}
