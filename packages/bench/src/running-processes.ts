/**
 * What a run has under way: its processes and their scratch directories. A run that is
 * interrupted ends and removes them; what a killed run could not remove, the next one does.
 */
import type { ChildProcess } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { kill, pid } from "node:process";

const prefix = "branchlog-bench-run-";
const processes = new Set<ChildProcess>();
const folders = new Set<string>();

/** An empty directory of this process. */
export function makeScratch(): string {
  const folder = mkdtempSync(join(tmpdir(), `${prefix}${pid}-`));
  folders.add(folder);
  return folder;
}

/** Removes it, with all that is in it. */
export function removeScratch(folder: string): void {
  rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
  folders.delete(folder);
}

/** Remembers a process until it has ended. */
export function watchOver(child: ChildProcess): void {
  processes.add(child);
  child.once("close", () => processes.delete(child)).once("error", () => processes.delete(child));
}

/** Ends all processes that are under way, and removes all scratch directories. */
export function endRuns(): void {
  for (const child of processes) child.kill("SIGKILL");
  for (const folder of folders) removeScratch(folder);
}

/** Removes the scratch directories of processes that have ended. */
export function sweepScratch(): void {
  for (const name of readdirSync(tmpdir())) {
    const owner = /^branchlog-bench-run-(\d+)-/.exec(name)?.[1];
    if (owner === undefined || isAlive(Number(owner))) continue;
    rmSync(join(tmpdir(), name), { recursive: true, force: true });
  }
}

function isAlive(owner: number): boolean {
  try {
    kill(owner, 0);
    return true;
  } catch (error) {
    // Not allowed: it is there, of another user. Decoding boundary: thrown by Node.
    return (error as NodeJS.ErrnoException).code !== "ESRCH";
  }
}
