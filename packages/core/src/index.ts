/**
 * Branchlog: sessions of coding agents as append-only logs, read as trees. What a program calls, in
 * reading order; `/entries` has the types of what is stored, `/live` what can be subscribed to,
 * `/types` the names of everything else that is taken or returned.
 */
export { createSession, memorySession, openOrCreateSession, openSession } from "./open.ts";
export type {
  CreateOptions,
  CreateStoredOptions,
  OpenOptions,
  OpenOrCreateOptions,
  OpenOrCreateStoredOptions,
  OpenStoredOptions,
} from "./open.ts";
export type { StoredSession } from "./store/log-store.ts";
export type { Session } from "./session/session.ts";
export type { AppendOptions } from "./append/append-options.ts";
export type { AppendResult } from "./append/append-result.ts";
export type { Durability } from "./log/engine-options.ts";
export type { EntryDraft } from "./entries/entry-draft.ts";
export type { SessionEntry, SessionHeader } from "./entries/entry-types.ts";
export type { AgentMessage } from "./entries/message-types.ts";
export type { EntryQuery } from "./session/entry-query.ts";
export type { PathContext, SessionContext } from "./projections/context.ts";
export type { Envelope, TreeView } from "./projections/tree.ts";
export type { Projection } from "./projections/projection.ts";
export type { Diagnostic } from "./index-table/diagnostics.ts";
export { BranchlogError, isBranchlogError } from "./errors.ts";
export type { ErrorCode } from "./errors.ts";
export { forkSession } from "./copies/fork-session.ts";
export type { ForkOptions, ForkResult } from "./copies/fork-session.ts";
