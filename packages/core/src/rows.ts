/**
 * `@branchlog/core/rows`: records as rows and bodies, for the packages of this workspace. It is no
 * API: names come and go with any version.
 */
export { encodeDraft, encodeHeader, spliceDraft, objectText } from "./entries/encode-entry.ts";
export {
  changedNumber,
  exactArguments,
  keptArguments,
  behindText,
} from "./entries/exact-numbers.ts";
export type { ExactArguments } from "./entries/exact-numbers.ts";
export {
  countAt,
  dateMs,
  isDate,
  isObject,
  listAt,
  objectAt,
  stringAt,
} from "./entries/json-fields.ts";
export {
  SavedFields,
  finiteNumber,
  malformed,
  savedList,
  savedPair,
  savedText,
  wholeNumber,
} from "./entries/saved-fields.ts";
export { AnswerJoiner, answerKey, continuedKey, countedKey } from "./entries/answers.ts";
export { isValidSessionId, assertValidSessionId } from "./entries/identifiers.ts";
export {
  dialectKey,
  dialectOfEntry,
  dialectOfLog,
  dialectMarkers,
  dialectNames,
} from "./dialects/dialect.ts";
export type { AnswerUsage } from "./entries/token-counts.ts";
export { noUsage, usageOf, usageOfBoth, withPart } from "./entries/token-counts.ts";
export { joinedFiles, openLogSource, partType } from "./store/parted-log.ts";
export type { LogSource } from "./store/parted-log.ts";
export {
  addressInFile,
  agentNamed,
  documentFormatOf,
  documentFormats,
  fileOfAddress,
  registerAgents,
  registeredAgents,
  transcriptFormats,
  earlierFiles,
} from "./dialects/agent.ts";
export type {
  Agent,
  DocumentBytes,
  DocumentFormat,
  EntryIdentity,
  RowFacts,
  SessionInFile,
  SpentTokens,
  TranscriptFormat,
  LogPart,
  SideTexts,
  SessionParts,
} from "./dialects/agent.ts";
export { placeOf, savedHeader, timeText } from "./dialects/transcript.ts";
export { currentVersion, entryForm, readHeader, upcastEntry } from "./dialects/header.ts";
export type { EntryForm } from "./dialects/header.ts";
export { isLinked, readRecord, sourceType, titleSlotType } from "./dialects/log-record.ts";
export { locateMembers, relinkLine, withMembers, withValueAt } from "./dialects/object-members.ts";
export type { NewValue, MemberChanges } from "./dialects/object-members.ts";
export { titleSlotBytes } from "./dialects/title-slot.ts";
export { findCycles, orphanRows, parentFinder, childrenOfId } from "./index-table/tree-walk.ts";
export type { Kind } from "./index-table/row-table.ts";
export { rowFlags } from "./index-table/row-table.ts";
export { entryPlace } from "./index-table/diagnostics.ts";
export { IndexTable } from "./index-table/index-table.ts";
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
export { namingTypes, sessionName, nameInForce } from "./projections/name.ts";
export {
  requireNoTranscript,
  transcriptErrorAt,
  readableFormat,
} from "./log/foreign-transcript.ts";
export {
  isStoredObject,
  storedList,
  storedTimeMs,
  storedText,
} from "./projections/stored-value.ts";
export { mainRole, roleModelType } from "./dialects/model-reference.ts";
export type { TitleSource } from "./dialects/title-slot.ts";
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
export { legacyEntryId } from "./dialects/migrate-line.ts";
export { summary, withUnread } from "./projections/summary.ts";
export type { GivenName } from "./projections/name.ts";
export { transcriptRecords } from "./dialects/transcript-records.ts";
export type {
  SpentAnswer,
  Transcript,
  TranscriptPlace,
  TranscriptRow,
} from "./dialects/transcript.ts";
export type { TranscriptRecord } from "./dialects/transcript-records.ts";
export type { RowBody } from "./bodies/body-reader.ts";
export { settingsOfPath } from "./projections/settings.ts";
export { HeaderSearch } from "./dialects/header-search.ts";
