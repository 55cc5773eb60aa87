/**
 * `@branchlog/library/catalogs`: the contents of directories, for the packages of this workspace.
 * It is not an API: names come and go with any version.
 */
export { cwdOf } from "./find/session-groups.ts";
export { KeptCatalog, documentsBelow, findAmong } from "./find/find-sessions.ts";
export { fittingSessions } from "./find/resolve-session.ts";
export { readSessionHeaderSync } from "./catalog/session-header.ts";
export { latestStored } from "./find/stored-sessions.ts";
export { sharesFiles } from "./catalog/agent-files.ts";
export { DirectoryCatalog } from "./catalog/directory-catalog.ts";
export { Ranking } from "./catalog/listed-session.ts";
export { recordsTokens } from "./catalog/listed-usage.ts";
export {
  filesStamp,
  sessionFilesBelow,
  sessionFilesIn,
  isSessionFileName,
} from "./catalog/session-files.ts";
export type { SessionFile } from "./catalog/session-files.ts";
export { entryTexts, searchedKinds } from "./search/entry-texts.ts";
export { SideTexts } from "./search/side-texts.ts";
export { StoredCatalog } from "./catalog/stored-catalog.ts";
export { archiveFiles, subagentFiles } from "./archive/archive-sessions.ts";
export { dataDirectory, dataDirectoryNames } from "./archive/archive-directory.ts";
export { listedArchived } from "./archive/archive-store.ts";
export { readForeignDatabase } from "./index/foreign-database.ts";
export type { ForeignDatabaseOptions } from "./index/foreign-database.ts";
export type { QueryRows } from "./index/sql-database.ts";
export { sqlEngine } from "./index/sql-database.ts";
export { SessionScan } from "./catalog/session-scan.ts";
export { textSearch } from "./search/search-query.ts";
export type { TextSearch } from "./search/search-query.ts";
export { Conversation } from "./conversation/conversation.ts";
export type { ConversationPage } from "./conversation/conversation.ts";
export {
  answeringModel,
  firstLine,
  promptText,
  rowsOfItem,
  turnItems,
} from "./conversation/turn-items.ts";
export type { CallItem, CallResult, PlacedEntry, TurnItem } from "./conversation/turn-items.ts";
export { toolUse, useText } from "./conversation/tool-use.ts";
export { TurnSum, shownUsage, turnFacts } from "./conversation/turn-facts.ts";
export type { TurnFacts } from "./conversation/turn-facts.ts";
export { sectionAt, sectionOfRow, turnPath, turnRange } from "./conversation/turn-path.ts";
export type { RowRole, TurnPath } from "./conversation/turn-path.ts";
export type { TouchedFile } from "./conversation/shown-conversation.ts";
export { TurnReader } from "./conversation/turn-reader.ts";
