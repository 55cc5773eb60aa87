/**
 * `@branchlog/core/live-values`: what lists that can be subscribed to share with sessions, for the
 * packages of this workspace. It is not an API: names come and go with any version.
 */
export { oneAtATime } from "./live/live-value.ts";
export { isSameStatus } from "./live/log-watch.ts";
