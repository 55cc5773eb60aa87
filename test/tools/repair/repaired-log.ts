/** Plans and repairs in memory, and puts the original together again from what a repair left. */
import { MemoryFileSystem, createMemoryPorts } from "@branchlog/core/testing";
import type { Ports } from "@branchlog/core/testing";
import { applyRepair, planRepair, salvagedBytes } from "@branchlog/tools";
import type {
  ApplyOptions,
  PlanOptions,
  RepairPlan,
  RepairResult,
  SalvageLine,
} from "@branchlog/tools";
import { addedBytes } from "../../../packages/tools/src/repair/repair-plan.ts";
import { reproducible } from "../../support/reproducible-ports.ts";

/** A file system in memory with one damaged log. */
export interface MemoryLog {
  readonly fs: MemoryFileSystem;
  readonly ports: Ports;
  readonly path: string;
}

export function memoryLog(bytes: Buffer, path = "/s.jsonl"): MemoryLog {
  const fs = new MemoryFileSystem();
  fs.writeFileSync(path, bytes);
  return { fs, ports: createMemoryPorts({ ...reproducible(), fs }), path };
}

export function plan({ ports, path }: MemoryLog, options: PlanOptions = {}): Promise<RepairPlan> {
  return planRepair(path, { ports, ...options });
}

export function apply(
  { ports }: MemoryLog,
  repairPlan: RepairPlan,
  options: ApplyOptions = {},
): Promise<RepairResult> {
  return applyRepair(repairPlan, { ports, ...options });
}

/** What a salvage file holds. */
export function salvageLinesIn(bytes: Buffer): SalvageLine[] {
  const lines = bytes.toString().split("\n").slice(0, -1);
  return lines.map((line) => JSON.parse(line) as SalvageLine);
}

/** The damaged log, made from the repaired one, the salvage file and the plan. */
export function originalOf(
  { steps }: RepairPlan,
  repaired: Buffer,
  salvage: readonly SalvageLine[],
): Buffer {
  const pieces: Buffer[] = [];
  let at = 0;
  for (const step of steps) {
    if (step.kind === "header" || step.kind === "stand-in") at += addedBytes(step).length;
    else if (step.kind === "terminate") at += 1;
    else if (step.kind === "set-aside") {
      const { offset, length } = step;
      const taken = salvage.filter(
        (line) => line.offset >= offset && line.offset < offset + length,
      );
      pieces.push(...taken.map((line) => salvagedBytes(line)));
    } else {
      pieces.push(repaired.subarray(at, at + step.length));
      at += step.length + (step.kind === "recover" && step.addsNewline ? 1 : 0);
    }
  }
  return Buffer.concat(pieces);
}
