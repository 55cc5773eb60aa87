/** Headers of new sessions. */
import { dialectKey, markedDialect, ompSessionIdLength } from "../dialects/dialect.ts";
import type { DialectName } from "../dialects/dialect.ts";
import { currentVersion } from "../dialects/header.ts";
import type { SessionHeader } from "../entries/entry-types.ts";
import { assertValidSessionId, isValidSessionId } from "../entries/identifiers.ts";
import type { Ports } from "../store/ports.ts";

/** What a caller may say about a new session, under pi's names. */
export interface NewSessionOptions {
  /** The id of the session; a new UUIDv7 without it. */
  readonly id?: string | undefined;
  /** Path of the session that this one continues. */
  readonly parentSession?: string | undefined;
}

/** What else there is to say about one. */
export interface HeaderOptions extends NewSessionOptions {
  /** The dialect of the session. Default `pi`. */
  readonly dialect?: DialectName | undefined;
  /** The name that a session of omp is created with. */
  readonly title?: string | undefined;
  /** The header of the session that it is a copy of: if that says its dialect, the copy does. */
  readonly copied?: SessionHeader | undefined;
}

/**
 * The header of a session that starts now.
 * @throws BranchlogError `ERR_INVALID_SESSION_ID`.
 */
export function newHeader(
  { clock, ids }: Pick<Ports, "clock" | "ids">,
  cwd: string,
  options: HeaderOptions = {},
): SessionHeader {
  if (options.id !== undefined) assertValidSessionId(options.id);
  const { parentSession, dialect, title } = options;
  const marked = markedDialect(options.copied);
  return {
    type: "session",
    version: currentVersion,
    id: options.id ?? (dialect === "omp" ? ompSessionId(ids) : ids.sessionId()),
    timestamp: new Date(clock.now()).toISOString(),
    cwd,
    ...(title === undefined ? {} : { title }),
    ...(parentSession === undefined ? {} : { parentSession }),
    ...(marked === undefined ? {} : { [dialectKey]: marked }),
  };
}

/** As omp makes them; one that could not be part of a file name everywhere is thrown away. */
function ompSessionId(ids: Ports["ids"]): string {
  for (;;) {
    const id = ids.urlSafeId(ompSessionIdLength);
    if (isValidSessionId(id)) return id;
  }
}
