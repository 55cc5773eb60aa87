/**
 * `@branchlog/core/internal`: what the packages beside the core are built of. It is no API: names
 * come and go with any version, and a program that imports it breaks with one.
 */
export {
  requireBoolean,
  requireOneOf,
  requireOptions,
  requireText,
  requireAtLeast,
  requireList,
  invalidArgument,
} from "./argument-checks.ts";
export {
  bodyBytesMax,
  diagnosticsMax,
  headBytesMax,
  headLinesMax,
  lockStaleMs,
  yieldEveryMs,
  redactedUnitsMax,
} from "./limits.ts";
export type {
  AssistantContent,
  UserContent,
  ContentBlock,
  SystemTool,
  UsageCost,
} from "./entries/message-types.ts";
export {
  encodeDraft,
  encodeHeader,
  guardEncoding,
  spliceDraft,
  objectText,
} from "./entries/encode-entry.ts";
export {
  changedNumber,
  exactArguments,
  keptArguments,
  behindText,
} from "./entries/exact-numbers.ts";
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
export {
  SavedFields,
  finiteNumber,
  malformed,
  savedText,
  wholeNumber,
} from "./entries/saved-fields.ts";
export { AnswerJoiner, answerKey } from "./entries/answers.ts";
export { isValidSessionId, assertValidSessionId } from "./entries/identifiers.ts";
export {
  dialectKey,
  dialectOfEntry,
  dialectOfLog,
  dialectMarkers,
  dialectNames,
} from "./dialects/dialect.ts";
export type { DialectEvidence } from "./dialects/dialect.ts";
export {
  custom,
  noUsage,
  textsOf,
  toolResult,
  usageOfBoth,
  userMessage,
} from "./dialects/foreign-content.ts";
export { kindOf, transcriptNames, isOfSession, transcriptOf } from "./dialects/foreign-record.ts";
export { transcriptId, placeOf } from "./dialects/transcript.ts";
export {
  currentVersion,
  entryForm,
  readHeader,
  upcastHeader,
  upcastEntry,
} from "./dialects/header.ts";
export type { EntryForm, UpcastContext } from "./dialects/header.ts";
export {
  isLinked,
  readRecord,
  sourceType,
  titleSlotType,
  headerOf,
} from "./dialects/log-record.ts";
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
export { titleSlotBytes, readTitleSlot } from "./dialects/title-slot.ts";
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
  inLargeChunks,
  directoryFailed,
} from "./store/atomic-file.ts";
export { errorCodeOf, isSameFile } from "./store/ports.ts";
export { descriptorPoolOf } from "./store/descriptor-pool.ts";
export { LogFile } from "./store/log-file.ts";
export { removeAbandonedTickets } from "./store/lock-queue.ts";
export { isLiveProcess } from "./store/process-name.ts";
export { nodeFileSystem } from "./store/node-file-system.ts";
export type { FileStat, HeldLock } from "./store/ports.ts";
export { hashedName, keptPaths, sidecarPath, isOwnDirectory } from "./store/sidecar.ts";
export {
  findCycles,
  orphanRows,
  parentFinder,
  pathToRow,
  childrenOfHandle,
} from "./index-table/tree-walk.ts";
export type { Kind } from "./index-table/row-table.ts";
export { LineMap, rowFlags, rootHandle } from "./index-table/row-table.ts";
export { LinkCheck, checkLinks, UnknownTypes } from "./log/findings.ts";
export { entryPlace } from "./index-table/diagnostics.ts";
export type { SavedDiagnostics } from "./index-table/diagnostics.ts";
export { IndexTable } from "./index-table/index-table.ts";
export type { RestoredIndex } from "./index-table/index-table.ts";
export { pageCount, pageElements, savedColumn } from "./index-table/saved-pages.ts";
export { LogIndexer } from "./index-table/log-indexer.ts";
export { inCurrentForm } from "./bodies/body-reader.ts";
export { FoldedProjections } from "./projections/folded.ts";
export {
  entryMessages,
  buildContext,
  projectContext,
  selectContext,
  projectEntry,
} from "./projections/context.ts";
export { usage } from "./projections/usage.ts";
export { lineChunks, rowLines } from "./bodies/row-lines.ts";
export type { LineSource, RowLine } from "./bodies/row-lines.ts";
export { namingTypes, sessionName, nameInForce, nameSaidBy } from "./projections/name.ts";
export { checkpointPath, loadPages, beginCheckpoint } from "./checkpoint/checkpoint-file.ts";
export { checkpointKind, filePieces } from "./checkpoint/page-file.ts";
export { isBoundTo } from "./checkpoint/log-binding.ts";
export { compareSums } from "./checkpoint/log-sums.ts";
export type { ChangedBytes, LogSums, SumComparison } from "./checkpoint/log-sums.ts";
export { readCheckpoint } from "./log/log-checkpoint.ts";
export type { FoundCheckpoint } from "./log/log-checkpoint.ts";
export { savedSums } from "./log/checkpoints.ts";
export { engineSettings, engineOptionNames } from "./log/engine-options.ts";
export type { EngineSettings } from "./log/engine-options.ts";
export { Engine } from "./session/engine.ts";
export { watchedSession, makeWatchable } from "./session/watched-session.ts";
export {
  compressedErrorAt,
  requireNoTranscript,
  transcriptErrorAt,
  readableKind,
} from "./log/foreign-transcript.ts";
export { acquireLock } from "./store/lock.ts";
export {
  identityOf,
  matchesFingerprint,
  FingerprintingReader,
  fingerprintOf,
  nothingRead,
} from "./log/fingerprint.ts";
export type { LogIdentity, LogFingerprint } from "./log/fingerprint.ts";
export { headerInCurrentForm, migrate, migratedChunks, needsMigration } from "./log/migration.ts";
export { copiedPath, pathEndRow, rowsOf } from "./session/entry-query.ts";
export {
  requireStoredName,
  storedLogExists,
  storedLogGone,
  storedLogMissing,
} from "./store/stored-names.ts";
export { registerBlockingStores, storePlace } from "./store/blocking-stores.ts";
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
  namingsIn,
} from "./copies/copied-entries.ts";
export { isBlocking, isInStore } from "./store/log-store.ts";
export { waitBlocking } from "./store/blocking-wait.ts";
export { resolvePath, expandPath, isSamePath } from "./store/user-paths.ts";
export { sessionPath } from "./copies/session-header.ts";
export type { AddedEntry } from "./copies/copied-entries.ts";
export {
  isStoredObject,
  storedList,
  storedTimeMs,
  storedText,
} from "./projections/stored-value.ts";
export type {
  OmpSessionEntry,
  SessionInit,
  ArchiveEntry,
  ModeChangeEntry,
  ResetBoundaryEntry,
  ServiceTierChangeEntry,
  SessionInitEntry,
  TitleChangeEntry,
  TtsrInjectionEntry,
} from "./entries/omp-entry-types.ts";
export { ompStateOfPath } from "./projections/omp-state.ts";
export type { OmpState, ServiceTier } from "./projections/omp-state.ts";
export { mainRole, roleModelType } from "./dialects/model-reference.ts";
export type { TitleSource } from "./dialects/title-slot.ts";
export { usageFold } from "./session/body-fold.ts";
export type { NewSessionOptions } from "./session/new-header.ts";
export type {
  BranchSummaryDraft,
  CompactionDraft,
  ContextEditDraft,
} from "./entries/entry-draft.ts";
export type { ContextEditReplacement } from "./entries/entry-types.ts";
export { computeSystemMessage } from "./projections/system-message.ts";
export { branchLines, branchTo, isConversation } from "./copies/branched-session.ts";
export type { Branch } from "./copies/branched-session.ts";
export { forkLines } from "./copies/whole-session.ts";
export type {
  SessionProjection,
  ContextProblem,
  ContextProblemReason,
  OnContextProblem,
  ProjectedEntries,
  ProjectedEntry,
} from "./projections/context.ts";
export { arrayPathView } from "./projections/projection.ts";
export type { PathView } from "./projections/projection.ts";
export { settledEntries } from "./bodies/lazy-entry.ts";
export type { LazySource } from "./bodies/lazy-entry.ts";
export { contextRows, loadContextBodiesSync } from "./session/context-load.ts";
export type { ParentChoice, AppendItem } from "./append/request.ts";
export { LeafCursor } from "./append/leaf-cursor.ts";
export { ChangeSignal } from "./log/change-signal.ts";
export type { WatchedSession } from "./session/watched-session.ts";
export { foreignPlaceCheck, foreignPlaces } from "./store/foreign-places.ts";
export { appendItem, isoText, prepare } from "./append/request.ts";
export { sameDraft } from "./append/retry.ts";
export { flushed } from "./log/replicated-log.ts";
export { ContextMemo } from "./session/path-fold.ts";
export { writeTitle } from "./session/title-write.ts";
export { createPrivatePorts } from "./store/private-ports.ts";
export { legacyEntryId } from "./dialects/migrate-line.ts";
export { cycleRows } from "./projections/tree.ts";
export type { FileKind, PageFile } from "./checkpoint/page-file.ts";
export type { SavedColumn } from "./index-table/saved-pages.ts";
export { summary, isDate, withUnread } from "./projections/summary.ts";
export { lockfileLock } from "./store/lockfile-lock.ts";
export type { GivenName } from "./projections/name.ts";
export type { UnreadMessages } from "./projections/summary.ts";
export { transcriptRecords } from "./dialects/transcript-records.ts";
export type { Transcript, TranscriptRow } from "./dialects/transcript.ts";
export { poll } from "./store/polled-hints.ts";
export { oneAtATime } from "./live/live-value.ts";
export { isSameStatus } from "./live/log-watch.ts";
export type { TranscriptRecord } from "./dialects/transcript-records.ts";
export { copyBranch } from "./copies/fork-session.ts";
