/** `@branchlog/agents/connectonion`: the YAML documents of ConnectOnion. */
export { createConnectonion, openConnectonion } from "./connectonion-session.ts";
export { isConnectonion, isEval } from "./document-head.ts";
export type { ConnectonionOptions } from "./document-head.ts";
export type {
  AppendedTurn,
  ConnectonionSession,
  CreateConnectonionOptions,
} from "./connectonion-session.ts";
export {
  messagesForReplay,
  messagesForResume,
  messagesOfTurn,
  sessionTurns,
  toolCallText,
  turnNotesIn,
  turnTotals,
  turnsOfEntries,
} from "./session-turns.ts";
export type {
  SessionTurn,
  TurnFields,
  TurnNotes,
  TurnSummary,
  TurnTotals,
} from "./session-turns.ts";
export { importConnectonion } from "./import-log.ts";
export type { ImportConnectonionOptions, ImportedLog } from "./import-log.ts";
export { exportConnectonion } from "./export-log.ts";
export type { ExportConnectonionOptions, ExportedDocument } from "./export-log.ts";
export type { Loss } from "./collected-turns.ts";
export type { LossReason } from "./chat-messages.ts";
export type {
  ChatMessage,
  ChatToolCall,
  ConnectonionDocument,
  ConnectonionTotals,
  ConnectonionTurn,
  DocumentDiagnostic,
  DocumentDiagnosticKind,
  DocumentShape,
  NewTurn,
  StoredTotals,
} from "./document-types.ts";
