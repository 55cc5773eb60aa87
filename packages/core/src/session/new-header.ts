/** Headers of new sessions. */
import { currentVersion } from "../dialects/header.ts";
import type { SessionHeader } from "../entries/entry-types.ts";
import { assertValidSessionId } from "../entries/session-id.ts";
import type { Ports } from "../store/ports.ts";

/** What a caller may say about a new session, under pi's names. */
export interface NewSessionOptions {
  /** The id of the session; a new UUIDv7 without it. */
  readonly id?: string | undefined;
  /** Path of the session that this one continues. */
  readonly parentSession?: string | undefined;
}

/**
 * The header of a session that starts now.
 * @throws BranchlogError `ERR_INVALID_SESSION_ID`.
 */
export function newHeader(
  { clock, ids }: Pick<Ports, "clock" | "ids">,
  cwd: string,
  options: NewSessionOptions = {},
): SessionHeader {
  if (options.id !== undefined) assertValidSessionId(options.id);
  const { parentSession } = options;
  return {
    type: "session",
    version: currentVersion,
    id: options.id ?? ids.sessionId(),
    timestamp: new Date(clock.now()).toISOString(),
    cwd,
    ...(parentSession === undefined ? {} : { parentSession }),
  };
}
