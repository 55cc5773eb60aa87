/**
 * `@branchlog/core/internal`: what the packages beside the core are built of. It is no API: names
 * come and go with any version, and a program that imports it breaks with one.
 */
export { requireBoolean, requireOneOf, requireOptions, requireText } from "./argument-checks.ts";
export {
  bodyBytesMax,
  diagnosticsMax,
  headBytesMax,
  headLinesMax,
  lockStaleMs,
  yieldEveryMs,
} from "./limits.ts";

export type { AssistantContent, UserContent } from "./entries/message-types.ts";
export { encodeDraft, encodeHeader, guardEncoding, spliceDraft } from "./entries/encode-entry.ts";
export { changedNumber, exactArguments, keptArguments } from "./entries/exact-numbers.ts";
export type { ExactArguments } from "./entries/exact-numbers.ts";
export {
  countAt,
  isDeeper,
  isObject,
  listAt,
  objectAt,
  stringAt,
  timeAt,
  withoutKeys,
} from "./entries/json-fields.ts";
export { SavedFields } from "./entries/saved-fields.ts";
export { AnswerJoiner, answerKey } from "./entries/answers.ts";
export { isValidSessionId } from "./entries/identifiers.ts";
export { dialectKey, dialectOfEntry, dialectOfLog, dialectMarkers } from "./dialects/dialect.ts";
export type { DialectEvidence } from "./dialects/dialect.ts";
export {
  assistantParts,
  claudeStopReason,
  claudeText,
  claudeUsage,
  envelopeKeys,
  syntheticModel,
  taskDigest,
  userParts,
} from "./dialects/claude-content.ts";

export type { UserPart } from "./dialects/claude-content.ts";
export {
  assistantBlocks,
  codexUsage,
  contentOf,
  environmentCwd,
  isContext,
  isItemCopy,
  reasoningTexts,
  toolOutput,
} from "./dialects/codex-items.ts";

export {
  custom,
  noUsage,
  textsOf,
  toolResult,
  usageOfBoth,
  userMessage,
} from "./dialects/foreign-content.ts";

export type { MappedContent } from "./dialects/foreign-content.ts";
export { codexRecord } from "./dialects/codex-record.ts";
export { kindOf, transcriptNames } from "./dialects/foreign-record.ts";
export { transcriptId } from "./dialects/transcript.ts";
export { currentVersion, entryForm, readHeader } from "./dialects/header.ts";
export type { EntryForm } from "./dialects/header.ts";
export { isLinked, readRecord, sourceType, titleSlotType } from "./dialects/log-record.ts";
export {
  applyEdits,
  findMember,
  locateMembers,
  relinkLine,
  replaceMembers,
  setMembers,
} from "./dialects/object-members.ts";

export type {
  MemberChange,
  MemberEdit,
  NewValue,
  ObjectMembers,
} from "./dialects/object-members.ts";

export { titleSlotBytes } from "./dialects/title-slot.ts";
export {
  AtomicFile,
  closeQuietly,
  isLinkUnsupported,
  makeDurableDirectory,
  removeQuietly,
  temporaryPath,
  createLog,
  createStreamedLog,
  inBatches,
  requireFree,
  creationFailed,
  logExists,
  inLargeChunksAsync,
} from "./store/atomic-file.ts";

export { errorCodeOf, isSameFile } from "./store/ports.ts";
export { descriptorPoolOf } from "./store/descriptor-pool.ts";
export { LogFile } from "./store/log-file.ts";
export { removeAbandonedTickets } from "./store/lock-queue.ts";
export { isLiveProcess } from "./store/process-name.ts";
export { nodeFileSystem } from "./store/node-file-system.ts";
export type { FileStat, HeldLock } from "./store/ports.ts";
export { hashedName, keptPaths, sidecarPath } from "./store/sidecar.ts";
export { findCycles, orphanRows, parentFinder, pathToRow } from "./index-table/tree-walk.ts";
export type { Kind } from "./index-table/row-table.ts";
export { LineMap, rowFlags } from "./index-table/row-table.ts";
export { LinkCheck, checkLinks, UnknownTypes } from "./log/findings.ts";
export { entryPlace } from "./index-table/diagnostics.ts";
export type { SavedDiagnostics } from "./index-table/diagnostics.ts";
export { IndexTable } from "./index-table/index-table.ts";
export type { RestoredIndex } from "./index-table/index-table.ts";
export { pageCount } from "./index-table/saved-pages.ts";
export { LogIndexer } from "./index-table/log-indexer.ts";
export { inCurrentForm } from "./bodies/body-reader.ts";
export { FoldedProjections } from "./projections/folded.ts";
export { entryMessages } from "./projections/context.ts";
export { usage } from "./projections/usage.ts";
export { lineChunks, rowLines } from "./bodies/row-lines.ts";
export type { LineSource, RowLine } from "./bodies/row-lines.ts";
export { namingTypes } from "./projections/name.ts";
export { checkpointPath, loadPages } from "./checkpoint/checkpoint-file.ts";
export { checkpointKind } from "./checkpoint/page-file.ts";
export { isBoundTo } from "./checkpoint/log-binding.ts";
export { compareSums } from "./checkpoint/log-sums.ts";
export type { ChangedBytes, LogSums, SumComparison } from "./checkpoint/log-sums.ts";
export { readCheckpoint } from "./log/log-checkpoint.ts";
export type { FoundCheckpoint } from "./log/log-checkpoint.ts";
export { savedSums } from "./log/checkpoints.ts";
export { engineSettings } from "./log/engine-options.ts";
export type { EngineSettings } from "./log/engine-options.ts";
export { Engine } from "./session/engine.ts";
export { watchedSession } from "./session/watched-session.ts";
export {
  compressedErrorAt,
  requireNoTranscript,
  transcriptErrorAt,
} from "./log/foreign-transcript.ts";

export { acquireLock } from "./store/lock.ts";
export { identityOf, matchesFingerprint } from "./log/fingerprint.ts";
export type { LogIdentity } from "./log/fingerprint.ts";
export { headerInCurrentForm, migrate, migratedChunks, needsMigration } from "./log/migration.ts";
export { pathEndRow } from "./session/entry-query.ts";
export {
  requireStoredName,
  storedLogExists,
  storedLogGone,
  storedLogMissing,
} from "./store/stored-names.ts";

export { registerBlockingStores } from "./store/blocking-stores.ts";
export type { BlockingStore, StorePlace } from "./store/blocking-stores.ts";
export { newHeader } from "./session/new-header.ts";
export { requireFile, requireHeader, requireKnownVersion } from "./log/log-checks.ts";
export { logChanged, piecesOfOneLog, requireSameLog, unchangedCheck } from "./session/same-log.ts";
export {
  addedLines,
  firstNaming,
  newline,
  rowsBackwards,
  transcriptLines,
} from "./copies/copied-entries.ts";
export { isBlocking } from "./store/log-store.ts";
export { waitBlocking } from "./store/blocking-wait.ts";
export { resolvePath } from "./store/user-paths.ts";
export { sessionPath } from "./copies/session-header.ts";
export type { AddedEntry } from "./copies/copied-entries.ts";
export { requireAtLeast } from "./argument-checks.ts";
export { requireList } from "./argument-checks.ts";
export { invalidArgument } from "./argument-checks.ts";
export { redactedUnitsMax } from "./limits.ts";
export type { ContentBlock } from "./entries/message-types.ts";
export type { SystemTool } from "./entries/message-types.ts";
export type { UsageCost } from "./entries/message-types.ts";
export { objectText } from "./entries/encode-entry.ts";
export { behindText } from "./entries/exact-numbers.ts";
export { finiteNumber } from "./entries/saved-fields.ts";
export { malformed } from "./entries/saved-fields.ts";
export { savedText } from "./entries/saved-fields.ts";
export { wholeNumber } from "./entries/saved-fields.ts";
export { assertValidSessionId } from "./entries/identifiers.ts";
export { dialectNames } from "./dialects/dialect.ts";
export { isOfSession } from "./dialects/foreign-record.ts";
export { transcriptOf } from "./dialects/foreign-record.ts";
export { placeOf } from "./dialects/transcript.ts";
export { upcastHeader } from "./dialects/header.ts";
export { upcastEntry } from "./dialects/header.ts";
export type { UpcastContext } from "./dialects/header.ts";
export { headerOf } from "./dialects/log-record.ts";
export { readTitleSlot } from "./dialects/title-slot.ts";
export { inLargeChunks } from "./store/atomic-file.ts";
export { directoryFailed } from "./store/atomic-file.ts";
export { isOwnDirectory } from "./store/sidecar.ts";
export { childrenOfHandle } from "./index-table/tree-walk.ts";
export { rootHandle } from "./index-table/row-table.ts";
export { pageElements } from "./index-table/saved-pages.ts";
export { savedColumn } from "./index-table/saved-pages.ts";
export { buildContext } from "./projections/context.ts";
export { projectContext } from "./projections/context.ts";
export { selectContext } from "./projections/context.ts";
export { projectEntry } from "./projections/context.ts";
export { sessionName } from "./projections/name.ts";
export { nameInForce } from "./projections/name.ts";
export { nameSaidBy } from "./projections/name.ts";
export { beginCheckpoint } from "./checkpoint/checkpoint-file.ts";
export { filePieces } from "./checkpoint/page-file.ts";
export { engineOptionNames } from "./log/engine-options.ts";
export { makeWatchable } from "./session/watched-session.ts";
export { readableKind } from "./log/foreign-transcript.ts";
export { FingerprintingReader } from "./log/fingerprint.ts";
export { fingerprintOf } from "./log/fingerprint.ts";
export { nothingRead } from "./log/fingerprint.ts";
export type { LogFingerprint } from "./log/fingerprint.ts";
export { rowsOf } from "./session/entry-query.ts";
export { storePlace } from "./store/blocking-stores.ts";
export { namingsIn } from "./copies/copied-entries.ts";
export { isInStore } from "./store/log-store.ts";
export { expandPath } from "./store/user-paths.ts";
export { isSamePath } from "./store/user-paths.ts";
export { isStoredObject } from "./projections/stored-value.ts";
export { storedList } from "./projections/stored-value.ts";
export { storedTimeMs } from "./projections/stored-value.ts";
export { storedText } from "./projections/stored-value.ts";
export type { OmpSessionEntry } from "./entries/omp-entry-types.ts";
export type { SessionInit } from "./entries/omp-entry-types.ts";
export type { ArchiveEntry } from "./entries/omp-entry-types.ts";
export type { ModeChangeEntry } from "./entries/omp-entry-types.ts";
export type { ResetBoundaryEntry } from "./entries/omp-entry-types.ts";
export type { ServiceTierChangeEntry } from "./entries/omp-entry-types.ts";
export type { SessionInitEntry } from "./entries/omp-entry-types.ts";
export type { TitleChangeEntry } from "./entries/omp-entry-types.ts";
export type { TtsrInjectionEntry } from "./entries/omp-entry-types.ts";
export { ompStateOfPath } from "./projections/omp-state.ts";
export type { OmpState } from "./projections/omp-state.ts";
export type { ServiceTier } from "./projections/omp-state.ts";
export { mainRole } from "./dialects/model-reference.ts";
export { roleModelType } from "./dialects/model-reference.ts";
export type { TitleSource } from "./dialects/title-slot.ts";
export { usageFold } from "./session/body-fold.ts";
export type { NewSessionOptions } from "./session/new-header.ts";
export type { BranchSummaryDraft } from "./entries/entry-draft.ts";
export type { CompactionDraft } from "./entries/entry-draft.ts";
export type { ContextEditDraft } from "./entries/entry-draft.ts";
export type { ContextEditReplacement } from "./entries/entry-types.ts";
export { computeSystemMessage } from "./projections/system-message.ts";
export { branchLines } from "./copies/branched-session.ts";
export { branchTo } from "./copies/branched-session.ts";
export { isConversation } from "./copies/branched-session.ts";
export type { Branch } from "./copies/branched-session.ts";
export { forkLines } from "./copies/whole-session.ts";
export type { SessionProjection } from "./projections/context.ts";
export type { ContextProblem } from "./projections/context.ts";
export type { ContextProblemReason } from "./projections/context.ts";
export type { OnContextProblem } from "./projections/context.ts";
export type { ProjectedEntries } from "./projections/context.ts";
export type { ProjectedEntry } from "./projections/context.ts";
export { arrayPathView } from "./projections/projection.ts";
export type { PathView } from "./projections/projection.ts";
export { settledEntries } from "./bodies/lazy-entry.ts";
export type { LazySource } from "./bodies/lazy-entry.ts";
export { contextRows } from "./session/context-load.ts";
export { loadContextBodiesSync } from "./session/context-load.ts";
export type { ParentChoice } from "./append/request.ts";
export type { AppendItem } from "./append/request.ts";
export { LeafCursor } from "./append/leaf-cursor.ts";
export { ChangeSignal } from "./log/change-signal.ts";
export type { WatchedSession } from "./session/watched-session.ts";
export { foreignPlaceCheck } from "./store/foreign-places.ts";
export { foreignPlaces } from "./store/foreign-places.ts";
export { appendItem } from "./append/request.ts";
export { isoText } from "./append/request.ts";
export { prepare } from "./append/request.ts";
export { sameDraft } from "./append/retry.ts";
export { flushed } from "./log/replicated-log.ts";
export { ContextMemo } from "./session/path-fold.ts";
export { writeTitle } from "./session/title-write.ts";
export { createPrivatePorts } from "./store/private-ports.ts";
export { legacyEntryId } from "./dialects/migrate-line.ts";
export { cycleRows } from "./projections/tree.ts";
export type { FileKind } from "./checkpoint/page-file.ts";
export type { PageFile } from "./checkpoint/page-file.ts";
export type { SavedColumn } from "./index-table/saved-pages.ts";
export { summary } from "./projections/summary.ts";
export { isDate } from "./projections/summary.ts";
export { withUnread } from "./projections/summary.ts";
export { lockfileLock } from "./store/lockfile-lock.ts";
export type { GivenName } from "./projections/name.ts";
export type { UnreadMessages } from "./projections/summary.ts";
export { transcriptRecords } from "./dialects/transcript-records.ts";
export type { Transcript } from "./dialects/transcript.ts";
export type { TranscriptRow } from "./dialects/transcript.ts";
export { poll } from "./store/polled-hints.ts";
export { oneAtATime } from "./live/live-value.ts";
export { isSameStatus } from "./live/log-watch.ts";
export type { TranscriptRecord } from "./dialects/transcript-records.ts";
