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

export { Redactor } from "./redaction/redactor.ts";
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
export { searchStored } from "./search/stored-search.ts";
export { newHeader } from "./session/new-header.ts";
export { requireFile, requireHeader, requireKnownVersion } from "./log/log-checks.ts";
export { logChanged, piecesOfOneLog, requireSameLog, unchangedCheck } from "./session/same-log.ts";
export { cwdOf } from "./directories/session-groups.ts";
export { CatalogStore } from "./catalog/catalog-store.ts";
export { readSessionHeaderSync } from "./catalog/header-search.ts";
export {
  addedLines,
  firstNaming,
  newline,
  rowsBackwards,
  transcriptLines,
} from "./copies/copied-entries.ts";

export { readAgent } from "./directories/agent-file.ts";
export { renamedSessionDirectory } from "./adapters/omp/agent-directory.ts";
export { latestStored } from "./directories/stored-sessions.ts";
export { isBlocking } from "./store/log-store.ts";
export { waitBlocking } from "./store/blocking-wait.ts";
export { resolvePath } from "./store/user-paths.ts";
export { sessionPath } from "./copies/session-header.ts";
export type { AddedEntry } from "./copies/copied-entries.ts";
