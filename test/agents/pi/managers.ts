/** Session managers with a fixed clock and seeded ids, in files or on a file system in memory. */
import type {
  AgentMessage,
  ManagerFactory,
  SessionEntry,
  SessionManager,
} from "@branchlog/agents/pi";
import { MemoryFileSystem, MemoryLock } from "@branchlog/core/testing";
import { managersWith } from "../../../packages/agents/src/pi/session-manager.ts";
import { reproducible } from "../../support/reproducible-ports.ts";
import { assistantMessage, userMessage } from "../../core/projections/sample-entries.ts";

/** The directory of sessions on a file system in memory. */
export const directory = "/sessions";

/** A separate file system and managers that keep their sessions there. */
export function inMemoryFiles(seed = 1): {
  readonly managers: ManagerFactory<SessionManager>;
  readonly fs: MemoryFileSystem;
} {
  const fs = new MemoryFileSystem();
  const ports = { fs, lock: new MemoryLock(), ...reproducible(seed) };
  return { fs, managers: managersWith({ ports }) };
}

/** Managers on real files, reproducible. */
export function onDisk(seed = 1): ManagerFactory<SessionManager> {
  return managersWith({ ports: reproducible(seed) });
}

/** A manager whose session stays in memory. */
export function inMemory(records?: Parameters<typeof SessionManager.inMemory>[2]): SessionManager {
  return inMemoryFiles().managers.inMemory("/work", undefined, records);
}

/** The same, and a new session in that directory. */
export function created(): ReturnType<typeof inMemoryFiles> & { readonly manager: SessionManager } {
  const files = inMemoryFiles();
  return { ...files, manager: files.managers.create("/work", directory) };
}

/** A manager of pi or omp. */
type Speaker = Readonly<Record<"appendMessage", (message: AgentMessage) => string>>;

/** Appends a user message and returns its id. */
export function say(manager: Speaker, text: string): string {
  return manager.appendMessage(userMessage(text));
}

/** Appends an answer of the assistant and returns its id. */
export function answer(manager: Speaker, text: string): string {
  return manager.appendMessage(assistantMessage(text));
}

export function idsOf(entries: readonly SessionEntry[]): string[] {
  return entries.map(({ id }) => id);
}

/**
 * The lines of a file on a file system in memory, without the empty one after the last newline.
 */
export function linesIn(fs: MemoryFileSystem, path: string | undefined): string[] {
  return fs
    .readFileSync(path ?? "")
    .toString()
    .trimEnd()
    .split("\n");
}
