/**
 * `@branchlog/library/live`: lists and searches that can be subscribed to.
 */
export { search$ } from "./live/search-live.ts";
export type { LiveSearchOptions } from "./live/search-live.ts";
export { sessions$ } from "./live/live-sessions.ts";
export type {
  LiveSessions,
  LiveSessionsOptions,
  SessionListDifference,
} from "./live/live-sessions.ts";
