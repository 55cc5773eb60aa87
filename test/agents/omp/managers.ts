/** Session managers of omp with a fixed clock and seeded ids. */
import type { ManagerFactory, SessionManager } from "@branchlog/agents/omp";
import { MemoryFileSystem, MemoryLock } from "@branchlog/core/testing";
import { managersWith } from "../../../packages/agents/src/omp/session-manager.ts";
import { reproducible } from "../../support/reproducible-ports.ts";
import { assistantMessage, userMessage } from "../../core/projections/sample-entries.ts";

/** The directory of sessions on a file system in memory. */
export const directory = "/sessions";

/** A file system of its own and managers that keep their sessions there. */
export function inMemoryFiles(seed = 1): {
  readonly managers: ManagerFactory<SessionManager>;
  readonly fs: MemoryFileSystem;
} {
  const fs = new MemoryFileSystem();
  const ports = { fs, lock: new MemoryLock(), ...reproducible(seed) };
  return { fs, managers: managersWith({ ports }) };
}

/** Appends a user message and returns its id. */
export function say(manager: SessionManager, text: string): string {
  return manager.appendMessage(userMessage(text));
}

/** Appends an answer of the assistant and returns its id. */
export function answer(manager: SessionManager, text: string): string {
  return manager.appendMessage(assistantMessage(text));
}

/** The records of a file on a file system in memory. */
export function recordsIn(fs: MemoryFileSystem, path: string | undefined): unknown[] {
  const text = fs.readFileSync(path ?? "").toString();
  return text
    .trimEnd()
    .split("\n")
    .map((line): unknown => JSON.parse(line));
}
