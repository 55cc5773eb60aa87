/** Carries out a repair plan: a verified copy replaces the log, whose original is kept. */
import { dirname, resolve } from "node:path";
import { runAsync } from "@branchlog/streaming";
import type { OptionNames } from "@branchlog/streaming";
import { BranchlogError } from "@branchlog/core";
import type { EngineOptions } from "@branchlog/core/types";
import {
  AtomicFile,
  LogFile,
  engineSettings,
  makeDurableDirectory,
  requireOptions,
  quietly,
} from "@branchlog/core/files";
import { Engine, requireKnownVersion } from "@branchlog/core/engine";
import type { EngineSettings } from "@branchlog/core/files";
import { countOf } from "../verify/finding.ts";
import type { Finding } from "../verify/finding.ts";
import { verifyLog } from "../verify/verify-session.ts";
import { createSalvage, requireUnchanged, takePlace } from "./repaired-place.ts";
import { repairedChunks } from "./repair-plan.ts";
import type { RepairPlan } from "./repair-plan.ts";
import { salvageLines } from "./salvage-lines.ts";

export interface ApplyOptions extends Pick<EngineOptions, "ports" | "lockWaitMs" | "lineBytesMax"> {
  /** Path of the repaired log, which must not exist. Default: it replaces the log. */
  readonly output?: string | undefined;
  /** Ends the work with the signal's reason, until the repaired log is in place. */
  readonly signal?: AbortSignal | undefined;
}

const applyNames: OptionNames<ApplyOptions> = {
  ports: true,
  lockWaitMs: true,
  lineBytesMax: true,
  output: true,
  signal: true,
};

export interface RepairResult {
  readonly path: string;
  /** Where the log is as it was; null if there was nothing to repair. */
  readonly original: string | null;
  /** The salvage file; null if nothing was set aside. */
  readonly salvage: string | null;
  /** Bytes appended by a program without the lock during the replacement; they are kept. */
  readonly lateBytes: number;
  /** Findings in the repaired log, before those bytes. */
  readonly findings: readonly Finding[];
}

/**
 * Repairs a log as planned. Without `output`, a plan without changes does nothing.
 * @throws BranchlogError `ERR_LOG_CHANGED`, `ERR_LOCK_TIMEOUT`, `ERR_VERSION_NEWER` (only in
 * place), `ERR_LOG_EXISTS`, `ERR_LOG_UNREADABLE`; `ERR_REPAIR_FAILED` with its cause. The log is
 * unchanged then, unless the message of the last one says where the result is.
 * @example
 * const { original, salvage } = await applyRepair(await planRepair("session.jsonl"));
 */
export async function applyRepair(
  plan: RepairPlan,
  options: ApplyOptions = {},
): Promise<RepairResult> {
  const { output, signal } = requireOptions(options, applyNames);
  const { path } = plan;
  if (output === undefined && plan.changes.length === 0) {
    return { path, original: null, salvage: null, lateBytes: 0, findings: plan.findings };
  }
  if (output === undefined) requireKnownVersion(path, plan.version);
  const settings = engineSettings(options);
  const { ports } = settings;
  const target = output === undefined ? path : new LogFile(ports.fs, resolve(output)).path;
  const file = new LogFile(ports.fs, path, plan.source.stat);
  const job: RepairJob = { plan, settings, file, target, isInPlace: output === undefined, signal };
  try {
    signal?.throwIfAborted();
    return await file.whileRetained(() => repair(job));
  } catch (error) {
    const isOurs = error instanceof BranchlogError && error.code !== "ERR_CREATE_FAILED";
    if (isOurs || signal?.aborted === true) throw error;
    throw repairFailed(path, "and it was not changed", error);
  }
}

interface RepairJob {
  readonly plan: RepairPlan;
  readonly settings: EngineSettings;
  readonly file: LogFile;
  readonly target: string;
  readonly isInPlace: boolean;
  readonly signal: AbortSignal | undefined;
}

async function repair(job: RepairJob): Promise<RepairResult> {
  const { plan, file, settings, target, isInPlace } = job;
  const { fs } = settings.ports;
  requireUnchanged(file, plan);
  if (!isInPlace) {
    if (fs.statSync(target) !== null) throw targetExists(target);
    makeDurableDirectory(fs, dirname(target));
  }
  const result = new AtomicFile(settings.ports, target);
  try {
    for await (const chunk of repairedChunks(plan.steps, file)) {
      job.signal?.throwIfAborted();
      result.add(chunk);
    }
    await result.sync();
    const findings = await checkCopy(job, result.temporary);
    return { ...(await placeCopy(job, result)), findings };
  } finally {
    result.discard();
  }
}

/** Opens the copy and verifies every byte of it, independently of the plan. */
async function checkCopy(
  { plan, settings, signal }: RepairJob,
  path: string,
): Promise<readonly Finding[]> {
  const engine = await Engine.open(path, { ...settings, access: "read" }, signal);
  try {
    const report = await verifyLog(engine, signal);
    const { repaired, remaining } = plan;
    const isAsPlanned =
      report.sizeBytes === repaired.sizeBytes &&
      report.entries === repaired.entries &&
      report.badLineCount === 0 &&
      report.damagedEntryCount === 0 &&
      report.pending?.length === plan.pending?.length &&
      countOf(report.findings, "duplicate-id") === remaining.duplicateIdCount &&
      report.orphanCount === remaining.orphanCount &&
      report.cycleCount === remaining.cycleCount;
    if (!isAsPlanned) throw new Error("the repaired copy differs from the plan");
    return report.findings;
  } finally {
    engine.release();
  }
}

async function placeCopy(
  { plan, file, settings, target, isInPlace, signal }: RepairJob,
  result: AtomicFile,
): Promise<Omit<RepairResult, "findings">> {
  const { ports, lockWaitMs } = settings;
  const { fs } = ports;
  const salvage = plan.steps.some(({ kind }) => kind === "set-aside")
    ? createSalvage(ports, target, () => salvageLines(plan.steps, file))
    : null;
  try {
    if (isInPlace) {
      const steps = takePlace({ plan, ports, lockWaitMs, file, result });
      return { path: target, salvage, ...(await runAsync(steps, signal)) };
    }
    requireUnchanged(file, plan);
    result.publish();
    result.syncName();
    return { path: target, salvage, original: plan.path, lateBytes: 0 };
  } catch (error) {
    // A call that failed may have had its effect.
    const isPlaced = result.hasName();
    if (isPlaced === true) throw repairFailed(plan.path, `but the result is at ${target}`, error);
    if (isPlaced === undefined)
      throw repairFailed(plan.path, `and what is at ${target} now could not be read`, error);
    if (salvage !== null) quietly(() => fs.unlinkSync(salvage));
    throw error;
  }
}

function targetExists(path: string): BranchlogError {
  const message = `${path} already exists; it was not changed. Choose another name.`;
  return new BranchlogError("ERR_LOG_EXISTS", message, { path });
}

function repairFailed(path: string, outcome: string, cause: unknown): BranchlogError {
  const reason = cause instanceof Error ? cause.message : String(cause);
  const message = `The repair of ${path} failed (${reason}), ${outcome}.`;
  return new BranchlogError("ERR_REPAIR_FAILED", message, { path, cause });
}
