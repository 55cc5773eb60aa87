/**
 * What is saved of a file in a directory of sessions, and its line in the saved catalog. Pure. What
 * would not come back from JSON as it was is not saved.
 */
import { createHash } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import type { RememberedBytes } from "../session/log-identity.ts";
import { catalogLineUnitsMax } from "./limits.ts";
import type { ListedSession } from "./listed-session.ts";
import type { SessionMarks } from "./session-marks.ts";
import type { FileStamp } from "./session-files.ts";

/** What is known of the session in a file, whatever its path. */
export type SavedSession = Omit<ListedSession, "path">;

/** Where reading may go on once the file has grown, and what is known of the bytes before. */
export interface SavedPlace {
  readonly offset: number;
  readonly lineNumber: number;
  readonly digest: string;
  readonly marks: SessionMarks;
}

/** See the file comment. */
export interface SavedFile {
  /** Of the file as it was read. */
  readonly stamp: FileStamp;
  /** Whether a change since then shows in the stamp; if not, the file has to be looked into. */
  readonly isSettled: boolean;
  /** The session in the file; undefined if it is none. */
  readonly session: SavedSession | undefined;
  /** Undefined if reading has to begin anew. */
  readonly place: SavedPlace | undefined;
}

/** By which bytes a file is known, in short. */
export function bytesDigest({ start, beforeCursor }: RememberedBytes): string {
  return createHash("sha256").update(start).update(beforeCursor).digest("base64");
}

/** The line of a file, without a newline; undefined if it is long, or JSON would change it. */
export function savedLine(name: string, file: SavedFile): string | undefined {
  const { identity, size, mtimeMs, ctimeMs } = file.stamp;
  const { firstMessage = "" } = file.session?.summary ?? {};
  if (firstMessage.length > catalogLineUnitsMax) return undefined;
  try {
    const line = JSON.stringify({ name, ...file, stamp: [identity, size, mtimeMs, ctimeMs] });
    if (line.length > catalogLineUnitsMax) return undefined;
    return isDeepStrictEqual(savedFile(line).file, file) ? line : undefined;
  } catch {
    // A header that is nested too deeply is read again each time.
    return undefined;
  }
}

/** The file of a line. Throws for what is no such line. */
export function savedFile(line: string): { readonly name: string; readonly file: SavedFile } {
  // Decoding boundary: it has the checksum of a catalog of this version.
  const { name, stamp, isSettled, session, place } = JSON.parse(line) as SavedLine;
  const [identity, size, mtimeMs, ctimeMs] = stamp;
  const file = {
    stamp: { identity, size, mtimeMs, ctimeMs },
    isSettled,
    session: session && complete(session),
    place,
  };
  return { name, file };
}

interface SavedLine extends Pick<SavedFile, "isSettled" | "session" | "place"> {
  readonly name: string;
  readonly stamp: readonly [string | undefined, number, number, number];
}

/** JSON leaves out what is undefined; whoever compares sessions does not. */
function complete(session: SavedSession): SavedSession {
  const { header, name, summary, dialect, modifiedMs, sizeBytes } = session;
  const { messageCount, firstMessage, lastActivityMs } = summary;
  const whole = { messageCount, firstMessage, lastActivityMs };
  return { header, name, summary: whole, dialect, modifiedMs, sizeBytes };
}
