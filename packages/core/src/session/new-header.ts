/** Headers of new sessions. */
import { dialectKey, markedDialect, ompSessionIdLength } from "../dialects/dialect.ts";
import type { DialectName } from "../dialects/dialect.ts";
import { currentVersion } from "../dialects/header.ts";
import type { SessionHeader } from "../entries/entry-types.ts";
import { assertValidSessionId, isValidSessionId } from "../entries/identifiers.ts";
import type { Ports } from "../platform/ports.ts";

/** Options of a new session, under pi's names. */
export interface NewSessionOptions {
  /** The id of the session. Default: a new UUIDv7. */
  readonly id?: string | undefined;
  /** Path of the session that this one continues. */
  readonly parentSession?: string | undefined;
}

export interface HeaderOptions extends NewSessionOptions {
  readonly dialect?: DialectName | undefined;
  /** The initial name of a session of omp. */
  readonly title?: string | undefined;
  /** When the session began, ISO 8601. Default: now. */
  readonly timestamp?: string | undefined;
  /** The header of the copied session, whose dialect mark the copy inherits. */
  readonly copied?: SessionHeader | undefined;
}

export function newHeader(
  { clock, ids }: Pick<Ports, "clock" | "ids">,
  cwd: string,
  options: HeaderOptions = {},
): SessionHeader {
  if (options.id !== undefined) assertValidSessionId(options.id);
  const { parentSession, dialect, title, timestamp } = options;
  const marked = markedDialect(options.copied);
  return {
    type: "session",
    version: currentVersion,
    id: options.id ?? (dialect === "omp" ? ompSessionId(ids) : ids.sessionId()),
    timestamp: timestamp ?? new Date(clock.now()).toISOString(),
    cwd,
    ...(title === undefined ? {} : { title }),
    ...(parentSession === undefined ? {} : { parentSession }),
    ...(marked === undefined ? {} : { [dialectKey]: marked }),
  };
}

/** Rejects ids that are not valid in every file name. */
function ompSessionId(ids: Ports["ids"]): string {
  for (;;) {
    const id = ids.urlSafeId(ompSessionIdLength);
    if (isValidSessionId(id)) return id;
  }
}
