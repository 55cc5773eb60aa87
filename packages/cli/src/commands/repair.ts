/**
 * `branchlog repair`: shows how a damaged session can be repaired, and repairs it only with
 * `--apply` or `--output`. The plan is printed before anything is written.
 */
import { resolve } from "node:path";
import { applyRepair, isDamaged, planRepair } from "@branchlog/tools";
import type { RepairPlan, RepairResult } from "@branchlog/tools";
import { writeJsonLine } from "../command-io.ts";
import type { CommandIo, CommandResult, FileOptions } from "../command-io.ts";
import { sizeOf, withProgress } from "../progress.ts";
import { recordedReplacement } from "../recorded-replacement.ts";
import { sessionPath } from "../session-path.ts";
import { planText, resultText } from "../text/repair-text.ts";
import { undoText } from "../text/undo-text.ts";

export interface RepairOptions extends FileOptions {
  readonly apply: boolean;
  readonly output: string | undefined;
  readonly bridge: boolean;
  readonly cwd: string | undefined;
}

/** To copy the log, to open the copy, to verify it. */
const readings = 3;

/** 1 if the session is damaged, and still is after the repair. */
export async function repairCommand(options: RepairOptions, io: CommandIo): Promise<CommandResult> {
  const { json, apply, output } = options;
  const plan = await planned(options, io);
  if (!json) {
    await io.out.write(planText(plan, options, io.out.style));
    await io.out.flush();
  }
  const writes = output !== undefined || (apply && plan.changes.length > 0);
  const result = writes ? await applied(plan, output, io) : null;
  const operation =
    output === undefined && result !== null ? await recorded(plan, result, io) : null;
  const ok = !isDamaged((result ?? plan).findings);
  if (json) await writeJsonLine(io.out, { ...facts(plan), ok, result, operation });
  else if (result !== null) {
    await io.out.write(`${resultText(result, io.out.style)}${undoText(operation)}`);
  }
  return ok ? 0 : 1;
}

async function planned({ file, bridge, cwd }: RepairOptions, io: CommandIo): Promise<RepairPlan> {
  const { signal } = io;
  const path = await sessionPath(file, signal);
  const options = { bridge, signal, cwd: cwd === undefined ? undefined : resolve(cwd) };
  const task = { what: "reading", path, bytes: sizeOf(path) };
  return withProgress(io, task, () => planRepair(path, options));
}

function applied(
  plan: RepairPlan,
  output: string | undefined,
  io: CommandIo,
): Promise<RepairResult> {
  const task = { what: "repairing", path: plan.path, bytes: plan.sizeBytes * readings };
  return withProgress(io, task, () => applyRepair(plan, { output, signal: io.signal }));
}

/** For `branchlog undo`. */
async function recorded(
  { path, repaired }: RepairPlan,
  { original, lateBytes }: RepairResult,
  io: CommandIo,
): Promise<string | null> {
  if (original === null) return null;
  const sizeBytes = repaired.sizeBytes + lateBytes;
  return recordedReplacement({ kind: "repair", path, original, sizeBytes }, io);
}

function facts({
  path,
  sizeBytes,
  version,
  changes,
  repaired,
  findings,
  pending,
  remaining,
}: RepairPlan): Omit<RepairPlan, "steps" | "source"> {
  return { path, sizeBytes, version, findings, pending, changes, repaired, remaining };
}
