/**
 * `@branchlog/core/live`: what can be subscribed to, of one session or of a directory. In reading
 * order.
 */
export { live } from "./live/live.ts";
export type { LiveViews, SessionSnapshot } from "./live/live-views.ts";
export type { Live } from "./live/live-value.ts";
export type { ListView } from "./live/list-view.ts";
export type { LiveContext } from "./live/live-context.ts";
export type { LiveTree } from "./live/live-tree.ts";
export type { LiveStatus } from "./live/log-watch.ts";
export type { EntryEvent, EntryEventOptions } from "./live/entry-events.ts";
export type { WaitOptions, WaitTarget } from "./live/wait-for.ts";
