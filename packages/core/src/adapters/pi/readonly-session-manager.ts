/** The half of a session manager that extensions of pi get: it asks, and never appends or moves. */
import type { SessionManager } from "./session-manager.ts";

/** What of a {@link SessionManager} only reads. */
export type ReadonlySessionManager = Pick<
  SessionManager,
  | "getCwd"
  | "getSessionDir"
  | "getSessionId"
  | "getSessionFile"
  | "getLeafId"
  | "getLeafEntry"
  | "getEntry"
  | "getLabel"
  | "getBranch"
  | "getHeader"
  | "getEntries"
  | "getTree"
  | "getSessionName"
  | "buildContextEntries"
  | "buildSessionProjection"
>;
