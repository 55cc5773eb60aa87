/**
 * One file of a directory, as it was when it was last looked at: the session in it, if it is one.
 * Looking again reads only what was appended, as long as the file is the one that was read; also if
 * it was read by another process, which saved what it found.
 */
import { isDeepStrictEqual } from "node:util";
import { openByteSource } from "@branchlog/streaming";
import type { ByteSource } from "@branchlog/streaming";
import { matchesFingerprint, fingerprintOf } from "../log/fingerprint.ts";
import type { LogFingerprint } from "../log/fingerprint.ts";
import { nothingRead, FingerprintingReader } from "../log/fingerprint.ts";
import { openedFileBytes, stampTrustedAfterMs } from "./limits.ts";
import { listedSession } from "./listed-session.ts";
import type { ListedSession } from "./listed-session.ts";
import { bytesDigest } from "./saved-file.ts";
import type { SavedFile, SavedPlace, SavedSession } from "./saved-file.ts";
import { FactsReader } from "./session-facts.ts";
import type { FactsReadOptions } from "./session-facts.ts";
import { isUnchanged, sessionFile } from "./session-files.ts";
import type { FileStamp, SessionFile } from "./session-files.ts";

/** How far a file was read, which was the last thing that was done with it. */
interface Progress {
  readonly reader: FactsReader;
  readonly bytes: LogFingerprint;
}

/** See the file comment. One look at a time. */
export class CatalogFile {
  #session: ListedSession | undefined;
  /** As it was when it was last read to its end. */
  #read: FileStamp | undefined;
  /** Whether a change since then would show in the stamp. */
  #isSettled = false;
  #progress: Progress | undefined;
  /** What another one found, until it is known to hold, or not. */
  #saved: SavedFile | undefined;

  constructor(saved?: SavedFile) {
    this.#saved = saved;
  }

  /** Which file was read last; undefined if none was. */
  get identity(): string | undefined {
    return this.#read?.identity;
  }

  /** The session in the file; undefined if it is none, or could never be read. */
  get session(): ListedSession | undefined {
    return this.#session;
  }

  /**
   * Reads what is new, and returns what that cost in bytes; 0 if nothing had to be read. What fails
   * leaves everything as it was, and is tried again at the next look.
   * @param lookedAtMs When `file` was looked at, or before, in epoch ms.
   */
  async look(file: SessionFile, lookedAtMs: number, options: FactsReadOptions): Promise<number> {
    this.#takeUpSaved(file);
    if (this.#isSettled && this.#read !== undefined && isUnchanged(this.#read, file)) return 0;
    const source = openByteSource(file.path);
    try {
      // What has the name by now may be another file, or have grown.
      const opened = sessionFile(file.path, source.statSync());
      const { reader, bytes } = this.#progressIn(opened, source);
      this.#progress = undefined;
      const trail = new FingerprintingReader(source, bytes);
      const facts = await reader.readOn(trail, opened.size, options);
      const session = facts && listedSession(opened, facts);
      if (!isDeepStrictEqual(session, this.#session)) this.#session = session;
      this.#progress = { reader, bytes: trail.bytes };
      this.#read = opened;
      // A change in the same moment as the look would not change its times.
      this.#isSettled = lookedAtMs - opened.ctimeMs > stampTrustedAfterMs;
      this.#saved = undefined;
      return openedFileBytes + reader.offset - bytes.cursor;
    } finally {
      source.closeSync();
    }
  }

  /** What others need not read again; undefined if nothing was read, or all of it has to be. */
  save(): SavedFile | undefined {
    if (this.#saved !== undefined || this.#read === undefined) return this.#saved;
    const place = this.#place();
    if (!this.#isSettled && place === undefined) return undefined;
    const { identity, size, mtimeMs, ctimeMs } = this.#read;
    const stamp = { identity, size, mtimeMs, ctimeMs };
    return { stamp, isSettled: this.#isSettled, session: this.#savedSession(), place };
  }

  #place(): SavedPlace | undefined {
    const { reader, bytes } = this.#progress ?? {};
    const known = reader?.upTo();
    if (known === undefined || bytes === undefined) return undefined;
    const { offset, lineNumber, facts } = known;
    return { offset, lineNumber, digest: bytesDigest(bytes), marks: facts.marks };
  }

  #savedSession(): SavedSession | undefined {
    if (this.#session === undefined) return undefined;
    const { header, name, summary, dialect, modifiedMs, sizeBytes } = this.#session;
    return { header, name, summary, dialect, modifiedMs, sizeBytes };
  }

  /** If the file is as it was when another one read it, that one's session is in it. */
  #takeUpSaved(file: SessionFile): void {
    const saved = this.#saved;
    if (this.#read !== undefined || saved === undefined) return;
    if (!saved.isSettled || !isUnchanged(saved.stamp, file)) return;
    this.#session = saved.session && { path: file.path, ...saved.session };
    this.#read = saved.stamp;
    this.#isSettled = true;
  }

  /** Where reading goes on; at the start if the file is not the one that was read. */
  #progressIn(opened: SessionFile, source: ByteSource): Progress {
    const before = this.#read ?? this.#saved?.stamp;
    if (before === undefined || !mayGoOn(before, opened)) return anew();
    if (this.#progress !== undefined) {
      return matchesFingerprint(source, this.#progress.bytes) ? this.#progress : anew();
    }
    const { place, session: facts } = this.#saved ?? {};
    if (place === undefined || facts === undefined) return anew();
    const bytes = fingerprintOf(source, place.offset);
    if (bytesDigest(bytes) !== place.digest) return anew();
    const known = { ...place, facts: { ...facts, marks: place.marks } };
    return { reader: new FactsReader({}, known), bytes };
  }
}

/** Whether nothing but appends may have happened: a stamp that moved over the same size is more. */
function mayGoOn(before: FileStamp, now: FileStamp): boolean {
  if (before.identity !== now.identity) return false;
  return now.size > before.size || isUnchanged(before, now);
}

function anew(): Progress {
  return { reader: new FactsReader(), bytes: nothingRead };
}
