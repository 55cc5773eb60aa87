/**
 * For tests of programs that use Branchlog: sessions in memory with time, ids and failures under
 * control, and builders for entries. In reading order.
 */
export { MemoryHints, MemoryLock, createMemoryPorts } from "./memory-ports.ts";
export { logStoreContract } from "./log-store-contract.ts";
export type { ContractCase } from "./log-store-contract.ts";
export { openStoredSession } from "../open.ts";
export type { LogStore, StoredAppend, StoredLog, StoredPosition } from "../store/log-store.ts";
export { nodePorts } from "../platform/node-ports.ts";
export type {
  Clock,
  FileLock,
  FileStat,
  FileSystem,
  HeldLock,
  IdSource,
  OpenMode,
  Ports,
} from "../platform/ports.ts";

export { MemoryFileSystem } from "./memory-file-system.ts";
export type { FileSystemCall, FileSystemHook } from "./memory-file-system.ts";
export { fileError } from "./file-error.ts";
export type { FileErrorCode } from "./file-error.ts";
export { ManualClock, createSeededIds } from "./controlled-ports.ts";
export { encodeTitleSlot } from "../dialects/title-slot.ts";
export {
  assistantEntry,
  assistantMessage,
  compactionEntry,
  contextEditEntry,
  jsonLines,
  messageEntry,
  sampleHeader,
  sampleTime,
  sampleTimeMs,
  storedEntry,
  usageOf,
  userDraft,
  userEntry,
  userMessage,
} from "./builders.ts";
