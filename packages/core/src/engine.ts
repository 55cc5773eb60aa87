/**
 * `@branchlog/core/engine`: the engine of one open log, for the packages of this
 * workspace. It is not an API: names come and go with any version.
 */
export { LinkCheck, checkLinks, UnknownTypes } from "./log/findings.ts";
export { CheckpointCheck, noDifferences } from "./log/checkpoint-check.ts";
export { Engine } from "./session/engine.ts";
export { watchedSession, makeWatchable } from "./session/watched-session.ts";
export { headerInCurrentForm, migrate } from "./log/migration.ts";
export { newHeader } from "./session/new-header.ts";
export { requireFile, requireHeader, requireKnownVersion } from "./log/log-checks.ts";
export { piecesOfOneLog } from "./session/same-log.ts";
export {
  addedLines,
  firstNaming,
  lastNaming,
  streamedLines,
  exportedPath,
} from "./copies/copied-entries.ts";
export { sessionPath } from "./copies/session-header.ts";
export type { AddedEntry } from "./copies/copied-entries.ts";
export { usageFold } from "./session/body-fold.ts";
export type { NewSessionOptions } from "./session/new-header.ts";
export { branchTo, isConversation } from "./copies/branched-session.ts";
export { contextRows, loadContextBodiesSync } from "./session/context-load.ts";
export type { ParentChoice, AppendItem } from "./append/request.ts";
export { LeafCursor } from "./append/leaf-cursor.ts";
export type { CommitTask } from "./log/commit.ts";
export { LinesFile } from "./log/lines-file.ts";
export type { ReadLines } from "./log/lines-file.ts";
export type { LinePlan, LogInFile, PlannedLine } from "./log/line-plan.ts";
export { ChangeSignal } from "./log/change-signal.ts";
export { appendItem, isoText, prepare } from "./append/request.ts";
export { sameDraft } from "./append/retry.ts";
export { flushed } from "./log/replicated-log.ts";
export { ContextMemo } from "./session/path-fold.ts";
export { overwriteSlot, writeTitle } from "./session/title-write.ts";
export { underBothLocks } from "./platform/peer-lock.ts";
export { encodeTitleSlot, readTitleSlot, titleSlotBytes } from "./dialects/title-slot.ts";
export type { TitleSlot } from "./dialects/title-slot.ts";
export { readBranch, writeBranch } from "./copies/fork-session.ts";
export { wholeLines } from "./copies/whole-session.ts";
export { migratedCopy } from "./copies/migrated-copy.ts";
