/** Conditions for reading or writing a file as a log. */
import { currentVersion } from "../dialects/header.ts";
import { BranchlogError } from "../errors.ts";
import type { LogFile } from "../platform/log-file.ts";
import type { FileStat } from "../platform/ports.ts";
import type { TranscriptFormat } from "../dialects/agent.ts";
import { requireNoTranscript } from "./foreign-transcript.ts";

/** Throws `ERR_LOG_MISSING`, or `ERR_LOG_UNREADABLE` for anything but a file. */
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

interface ReadHead<Header> {
  readonly header: Header | undefined;
  readonly entriesBeforeHeader: number;
  /** Of a transcript. */
  readonly format?: TranscriptFormat | undefined;
}

/** Throws `ERR_LOG_EMPTY`, `ERR_NOT_A_SESSION` or `ERR_HEADER_DAMAGED`. */
export function requireHeader<Header>(
  file: LogFile,
  read: ReadHead<Header>,
  bytes: number,
): Header {
  if (read.header !== undefined) return read.header;
  const { path } = file;
  if (bytes === 0) {
    const message = `${path} is empty. Delete it, or create a session there.`;
    throw new BranchlogError("ERR_LOG_EMPTY", message, { path });
  }
  if (read.format !== undefined) {
    const message =
      `${path} is ${read.format.noun} without a conversation: it has only names or settings of ` +
      "the agent. It was not changed.";
    throw new BranchlogError("ERR_NOT_A_SESSION", message, { path });
  }
  requireNoTranscript(path, file, bytes);
  const entries = read.entriesBeforeHeader;
  if (entries > 0) {
    const message =
      `${path} holds ${entries} entries but no readable session header. It was not changed; ` +
      'add a line {"type":"session",…} at its start to open it.';
    throw new BranchlogError("ERR_HEADER_DAMAGED", message, { path, line: 1, offset: 0 });
  }
  const message = `${path} is not a session file: no line is a session header. It was not changed.`;
  throw new BranchlogError("ERR_NOT_A_SESSION", message, { path });
}

/** The rules of newer versions are unknown: throws `ERR_VERSION_NEWER`. */
export function requireKnownVersion(path: string, version: number): void {
  if (version <= currentVersion) return;
  throw new BranchlogError(
    "ERR_VERSION_NEWER",
    `${path} has version ${version}; this release writes up to ${currentVersion}. It can be read ` +
      'with access "read"; update Branchlog to append, or pass allowNewerVersion to append anyway.',
    { path },
  );
}
