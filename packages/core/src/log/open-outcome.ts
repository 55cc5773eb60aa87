/**
 * Says what a file turned out to be when it was read as a log: a session, or one of six outcomes
 * that are not. Nothing was written, whatever the answer.
 */
import { currentVersion } from "../dialects/header.ts";
import { BranchlogError } from "../errors.ts";
import type { LogFile } from "../store/log-file.ts";
import type { FileStat } from "../store/ports.ts";
import { requireNoTranscript } from "./foreign-transcript.ts";

/**
 * What is at the path, if it is a file.
 * @throws BranchlogError `ERR_LOG_MISSING`, `ERR_LOG_UNREADABLE` for a directory or device.
 */
export function requireFile(path: string, stat: FileStat | null): FileStat {
  if (stat === null) {
    const message = `There is no session file at ${path}. Check the path, or create one there.`;
    throw new BranchlogError("ERR_LOG_MISSING", message, { path });
  }
  if (stat.isFile) return stat;
  const what = stat.isDirectory ? "a directory" : "not a regular file";
  const message = `${path} is ${what}, not a session file. Give the path of a session file.`;
  throw new BranchlogError("ERR_LOG_UNREADABLE", message, { path });
}

/**
 * The header of a log that was read whole. Without one, the beginning of the file is read again to
 * see whether another agent wrote it.
 * @throws BranchlogError `ERR_LOG_EMPTY`, `ERR_NOT_A_SESSION` or `ERR_HEADER_DAMAGED`.
 */
export function requireHeader<Header>(
  file: LogFile,
  read: { readonly header: Header | undefined; readonly entriesBeforeHeader: number },
  bytes: number,
): Header {
  if (read.header !== undefined) return read.header;
  const { path } = file;
  if (bytes === 0) {
    const message = `${path} is empty. Delete it, or create a session there.`;
    throw new BranchlogError("ERR_LOG_EMPTY", message, { path });
  }
  requireNoTranscript(path, file, bytes);
  const entries = read.entriesBeforeHeader;
  if (entries > 0) {
    const message =
      `${path} holds ${entries} entries but no readable session header. The file was left as it ` +
      'is; put a line {"type":"session",…} first to open it.';
    throw new BranchlogError("ERR_HEADER_DAMAGED", message, { path, line: 1, offset: 0 });
  }
  const message = `${path} is not a session file: no line is a session header. It was left alone.`;
  throw new BranchlogError("ERR_NOT_A_SESSION", message, { path });
}

/**
 * Refuses to append to a log of a newer version, whose rules are unknown.
 * @throws BranchlogError `ERR_VERSION_NEWER`.
 */
export function requireKnownVersion(path: string, version: number): void {
  if (version <= currentVersion) return;
  throw new BranchlogError(
    "ERR_VERSION_NEWER",
    `${path} has version ${version}; this release writes up to ${currentVersion}. It can be read ` +
      'with access "read"; update Branchlog to append, or pass allowNewerVersion to append anyway.',
    { path },
  );
}
