/** Session managers of omp with a fixed clock and seeded ids. */
import type { ManagerFactory, SessionManager } from "@branchlog/agents/omp";
import { MemoryFileSystem, MemoryLock } from "@branchlog/core/testing";
import { managersWith } from "../../../packages/agents/src/omp/session-manager.ts";
import { reproducible } from "../../support/reproducible-ports.ts";
import { answer, directory, linesIn, say } from "../pi/managers.ts";

export { answer, directory, say };

/** A separate file system and managers that keep their sessions there. */
export function inMemoryFiles(seed = 1): {
  readonly managers: ManagerFactory<SessionManager>;
  readonly fs: MemoryFileSystem;
} {
  const fs = new MemoryFileSystem();
  const ports = { fs, lock: new MemoryLock(), ...reproducible(seed) };
  return { fs, managers: managersWith({ ports }) };
}

/** The same, and a new session in that directory. */
export function created(): ReturnType<typeof inMemoryFiles> & { readonly manager: SessionManager } {
  const files = inMemoryFiles();
  return { ...files, manager: files.managers.create("/work", directory) };
}

/** The records of a file on a file system in memory. */
export function recordsIn(fs: MemoryFileSystem, path: string | undefined): unknown[] {
  return linesIn(fs, path).map((line): unknown => JSON.parse(line));
}
