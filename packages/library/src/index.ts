/**
 * `@branchlog/library`: all sessions, in directories, in stores, in the archive. In
 * reading order.
 */
export { findSessions, knownPlaces } from "./find/find-sessions.ts";
export type {
  FindOptions,
  FoundSessions,
  SearchProgress,
  SearchedStore,
} from "./find/find-options.ts";
export { sessionGroups } from "./find/session-groups.ts";
export { resolveSession } from "./find/resolve-session.ts";
export type { ListedSession } from "./catalog/listed-session.ts";
export type { ListedActivity } from "./catalog/listed-activity.ts";
export type { ListedUsage } from "./catalog/listed-usage.ts";
export type { ListedTranscript } from "./catalog/transcript-scan.ts";
export { searchSessions } from "./search/session-search.ts";
export type { SearchHit, SearchOptions } from "./search/search-terms.ts";
export { rankedSessions } from "./search/ranked-sessions.ts";
export type { RankedSession } from "./search/ranked-sessions.ts";
export { updateSearchIndex } from "./index/update-index.ts";
export type { IndexOptions, IndexProgress, IndexUpdate } from "./index/update-index.ts";
export { checkSearchIndex, dropSearchIndex, searchIndexState } from "./index/index-state.ts";
export type { SearchIndexState } from "./index/index-state.ts";
export type { ResolveOptions } from "./find/resolve-session.ts";
export type { GroupedSession, SessionGroup, SessionParent } from "./find/session-groups.ts";
export type { SearchedKind } from "./search/entry-texts.ts";
export type { Snippet } from "./search/search-query.ts";
export { deleteSession } from "./archive/delete-session.ts";
export type { DeleteOptions, DeleteResult } from "./archive/delete-session.ts";
export { archiveSessions } from "./archive/archive-sessions.ts";
export type { ArchiveOptions } from "./archive/archive-sessions.ts";
export { archiveStore } from "./archive/archive-store.ts";
export { archivedSessions, findArchived } from "./archive/archived-sessions.ts";
export type { ArchivedSession } from "./archive/archived-sessions.ts";
export { restoreSession } from "./archive/restore-session.ts";
export type { RestoreOptions, RestoreResult } from "./archive/restore-session.ts";
export type { Removal } from "./archive/remove-sessions.ts";
export { planPrune } from "./archive/plan-prune.ts";
export type { PruneRules } from "./archive/plan-prune.ts";
export { moveSessions } from "./archive/move-sessions.ts";
export type { MoveOptions, MoveResult, MovedSession } from "./archive/move-sessions.ts";
export { operations, undoOperation } from "./archive/undo.ts";
export type { RecordedOperation, UndoOptions, UndoResult } from "./archive/undo.ts";
export { recordReplacement } from "./archive/record-replacement.ts";
export type { Replacement } from "./archive/record-replacement.ts";
export { dataDirectory } from "./archive/archive-directory.ts";
export type { DataDirectoryOptions } from "./archive/archive-directory.ts";
export type {
  FileChange,
  ArchivedFacts,
  Operation,
  OperationKind,
  PackedFile,
} from "./archive/operation.ts";
