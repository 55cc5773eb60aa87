/**
 * What tests of programs that use Branchlog need: sessions in memory with time, ids and failures
 * under control, and builders for entries. In reading order.
 */
export { MemoryHints, MemoryLock, createMemoryPorts } from "./memory-ports.ts";
export { nodePorts } from "../store/node-ports.ts";
export type {
  Clock,
  FileLock,
  FileStat,
  FileSystem,
  HeldLock,
  IdSource,
  OpenMode,
  Ports,
} from "../store/ports.ts";
export { MemoryFileSystem, fileError } from "./memory-file-system.ts";
export type { FileErrorCode, FileSystemCall, FileSystemHook } from "./memory-file-system.ts";
export { ManualClock } from "./controlled-ports.ts";
export { createSeededIds } from "./controlled-ports.ts";
export { encodeTitleSlot } from "../dialects/title-slot.ts";
export { managersWith } from "../adapters/pi/session-manager.ts";
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
export { BlockingSession } from "./blocking-session.ts";
export type { Offer } from "./blocking-session.ts";
