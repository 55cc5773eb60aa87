/** `@branchlog/sdks/claude`: the `SessionStore` of the Claude Agent SDK. */
export { claudeSessionStore } from "./session-store.ts";
export type { StoredTranscripts } from "./session-store.ts";
