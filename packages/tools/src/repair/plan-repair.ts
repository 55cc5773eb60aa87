/** Plans the repair of a log. Takes no lock and changes nothing. */
import { LineFramer, runAsync, scan } from "@branchlog/streaming";
import type { OptionNames, ByteSource } from "@branchlog/streaming";
import { BranchlogError } from "@branchlog/core";
import type { EngineOptions, FileStat } from "@branchlog/core/types";
import {
  LogFile,
  bodyBytesMax,
  engineSettings,
  fingerprintOf,
  requireOptions,
  yieldEveryMs,
  diagnosticsMax,
} from "@branchlog/core/files";
import { CheckpointCheck, requireFile, requireHeader } from "@branchlog/core/engine";
import {
  fileOfAddress,
  findCycles,
  orphanRows,
  requireNoTranscript,
  transcriptErrorAt,
} from "@branchlog/core/rows";
import type { EngineSettings } from "@branchlog/core/files";
import { endKind, mayBeWritten } from "../verify/finding.ts";
import type { FindingKind } from "../verify/finding.ts";
import { isSameLine, repeatedIds } from "../verify/tree-check.ts";
import type { IndexedLog } from "../verify/tree-check.ts";
import { verifyRange } from "../verify/verify-session.ts";
import type { VerifyReport } from "../verify/verify-session.ts";
import { PlanBuilder } from "./plan-builder.ts";
import { repairedBytes, withAdditions, withoutRepetitions } from "./repair-plan.ts";
import { rebuiltHeader } from "./rebuilt-header.ts";
import type {
  HeaderStep,
  RepairChange,
  RepairPlan,
  RemainingDamage,
  StandInStep,
} from "./repair-plan.ts";
import { standIns } from "./stand-ins.ts";

export interface PlanOptions extends Pick<EngineOptions, "ports" | "lineBytesMax"> {
  /**
   * Guesses that the parent of an entry, if nothing names it, is the entry before. Default false.
   */
  readonly bridge?: boolean;
  /** The working directory for a rebuilt header. Default: from its remains. */
  readonly cwd?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

const planNames: OptionNames<PlanOptions> = {
  ports: true,
  lineBytesMax: true,
  bridge: true,
  cwd: true,
  signal: true,
};

/**
 * Plans the repair of a log. Reads it twice; memory is proportional to its entries and its damage.
 * Lines above 512 MiB are not repaired: they are kept if they are records, otherwise set aside
 * completely.
 * @throws BranchlogError `ERR_LOG_MISSING`, `ERR_LOG_EMPTY`, `ERR_LOG_UNREADABLE`;
 * `ERR_NOT_A_SESSION` without a header or an entry, or for a file of another agent;
 * `ERR_LOG_CHANGED` if it is truncated while it is read.
 * @example
 * const plan = await planRepair("session.jsonl");
 * if (plan.changes.length > 0) await applyRepair(plan);
 */
export async function planRepair(path: string, options: PlanOptions = {}): Promise<RepairPlan> {
  const settings = engineSettings(requireOptions(options, planNames));
  const isInDatabase = fileOfAddress(path).id !== undefined;
  const foreign = isInDatabase ? transcriptErrorAt(path) : undefined;
  if (foreign !== undefined) throw foreign;
  const named = new LogFile(settings.ports.fs, path);
  // Read before the log, which then covers at least as much.
  const saved = new CheckpointCheck(settings, named.path, named.statSync());
  const stat = requireFile(named.path, named.statSync());
  const file = named.adopted(stat);
  return file.whileRetained(() => planOfFile({ file, stat, saved, settings, options }));
}

interface PlannedLog {
  readonly file: LogFile;
  readonly stat: FileStat;
  readonly saved: CheckpointCheck;
  readonly settings: EngineSettings;
  readonly options: PlanOptions;
}

async function planOfFile(planned: PlannedLog): Promise<RepairPlan> {
  const { file, stat, saved, settings, options } = planned;
  const { ports, lineBytesMax } = settings;
  const { signal } = options;
  const builder = new PlanBuilder(file, bodyBytesMax);
  const framer = new LineFramer({ lineBytesMax });
  const range = { from: 0, to: stat.size, yieldEveryMs };
  await runAsync(scan(file, framer, builder, range), signal);
  if (framer.offset < stat.size) throw becameShorter(file.path);
  const rest = framer.rest();
  const mayGrow = mayBeWritten(file.statSync(), ports.clock);
  if (rest !== null) builder.addRest(rest, endKind(rest, file, mayGrow));
  const header = missingHeader(builder, file.path, stat, {
    cwd: options.cwd,
    newId: () => ports.ids.sessionId(),
  });
  // Records of another agent may look like entries of version 1, but no header makes them that.
  if (header === undefined) requireHeader(file, builder.repaired.indexer, stat.size);
  else requireNoTranscript(file.path, file, stat.size);
  const report = await verifyRange({
    settings,
    saved,
    file,
    end: stat.size,
    statSync: () => file.statSync(),
    mayGrow: () => mayGrow,
    signal,
  });
  return planOf(builder, planned, report, header);
}

function planOf(
  builder: PlanBuilder,
  { file, stat, options: { bridge = false } }: PlannedLog,
  { findings, pending }: VerifyReport,
  header: HeaderStep | undefined,
): RepairPlan {
  const { repaired, lost } = builder;
  const { index, indexer } = repaired;
  const { version = 1, timestamp } = header?.header ?? indexer.header?.header ?? {};
  const added = standIns({ index, lost, bridge, timestamp: timestamp ?? isoTime(stat) });
  const left = repetitions(builder, file);
  const additions = header === undefined ? added : [header, ...added];
  const steps = withAdditions(withoutRepetitions(builder.finish(), left.steps), additions);
  return {
    path: file.path,
    sizeBytes: stat.size,
    version,
    steps,
    changes: steps.filter((step): step is RepairChange => step.kind !== "keep"),
    repaired: {
      sizeBytes: repairedBytes(steps),
      entries: index.count - left.rows.size + added.length,
    },
    findings,
    pending: pending?.kind === "fragment" ? pending : null,
    remaining: {
      ...remainingDamage({ indexer, source: file, leftOut: left.rows }, added),
      others: findings.filter(({ kind }) => isUnrepaired(kind, header)),
    },
    source: { stat, fingerprint: fingerprintOf(file, stat.size) },
  };
}

const ofRecords: ReadonlySet<FindingKind> = new Set([
  "id-changed",
  "invalid-utf8",
  "changed-line",
  "checkpoint-difference",
]);

function isUnrepaired(kind: FindingKind, header: HeaderStep | undefined): boolean {
  return ofRecords.has(kind) || (kind === "before-header" && header === undefined);
}

function missingHeader(
  { repaired, headerRemains }: PlanBuilder,
  path: string,
  stat: FileStat,
  given: { readonly cwd: string | undefined; readonly newId: () => string },
): HeaderStep | undefined {
  const { firstWithoutHeader: first, indexer, index, laterHeader } = repaired;
  const offset = headerRemains?.offset ?? first?.offset;
  if (offset === undefined || (first === undefined && indexer.header !== undefined)) {
    return undefined;
  }
  // Only version 2 has messages of this role.
  const isOld = index.kinds.kinds.some(({ role }) => role === "hookMessage");
  return rebuiltHeader({
    path,
    offset,
    lost: headerRemains?.facts ?? {},
    later: laterHeader,
    form: first?.form === 3 && isOld ? 2 : (first?.form ?? 3),
    firstTimestamp: first?.timestamp,
    firstCwd: first?.cwd,
    newTimestamp: isoTime(stat),
    ...given,
  });
}

function isoTime({ mtimeMs }: FileStat): string {
  return new Date(mtimeMs).toISOString();
}

function becameShorter(path: string): BranchlogError {
  const message = `${path} was truncated while it was read. Close its writer and try again.`;
  return new BranchlogError("ERR_LOG_CHANGED", message, { path });
}

interface Repetitions {
  readonly steps: ReadonlySet<number>;
  readonly rows: ReadonlySet<number>;
}

/** Recovered records that are in the log again, as a writer retries a torn append. */
function repetitions(builder: PlanBuilder, source: ByteSource): Repetitions {
  const { index } = builder.repaired;
  const [steps, rows] = [new Set<number>(), new Set<number>()];
  const recoveredRows = new Set(builder.recovered.map(({ row }) => row));
  const stays = new Map<number, number>();
  const isSame = (row: number, other: number): boolean =>
    other >= 0 && other !== row && isSameLine(index, source, row, other);
  for (const { step, row, earlierRow } of builder.recovered) {
    if (row < 0) continue;
    const latest = index.rowOfHandle(index.rows.handle(row));
    const later = recoveredRows.has(latest) ? -1 : latest;
    const earlier = stays.get(earlierRow) ?? earlierRow;
    const other = [earlier, later].find((candidate) => isSame(row, candidate));
    if (other === undefined) continue;
    stays.set(row, other);
    steps.add(step);
    rows.add(row);
  }
  return { steps, rows };
}

function remainingDamage(
  log: IndexedLog,
  added: readonly StandInStep[],
): Omit<RemainingDamage, "others"> {
  const { index } = log.indexer;
  const there = new Set(added.map(({ id }) => id));
  const missing = orphanRows(index).filter((row) => !there.has(index.parentIdOf(row) ?? ""));
  const { cycles } = findCycles(index);
  const { count, sameCount, list } = repeatedIds(log);
  return {
    duplicateIdCount: count - sameCount,
    duplicateIds: list.flatMap(({ id, isSame }) => (isSame ? [] : [id])),
    orphanCount: missing.length,
    orphans: missing
      .slice(0, diagnosticsMax)
      .map((row) => ({ id: index.idOf(row), missingParentId: index.parentIdOf(row) ?? "" })),
    cycleCount: cycles.length,
    cycles: cycles.slice(0, diagnosticsMax).map(({ row }) => index.idOf(row)),
  };
}
