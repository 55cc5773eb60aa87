/**
 * `@branchlog/agents/testing`: the session managers over ports of a test.
 */
export { managersWith } from "./pi/session-manager.ts";
