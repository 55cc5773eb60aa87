/**
 * One file of a directory, as it was when it was last looked at: the session in it, if it is one.
 * Looking again reads only what was appended, as long as the file is the one that was read.
 */
import { isDeepStrictEqual } from "node:util";
import { openByteSource } from "@branchlog/streaming";
import type { FileSource } from "@branchlog/streaming";
import { isStillThere } from "../session/log-identity.ts";
import type { RememberedBytes } from "../session/log-identity.ts";
import { nothingRead, ReadTrail } from "../session/read-trail.ts";
import { stampTrustedAfterMs } from "./limits.ts";
import { listedSession } from "./listed-session.ts";
import type { ListedSession } from "./listed-session.ts";
import { FactsReader } from "./session-facts.ts";
import type { FactsReadOptions } from "./session-facts.ts";
import type { SessionFile } from "./session-files.ts";

/** How far a file was read. */
interface Progress {
  readonly identity: string | undefined;
  readonly reader: FactsReader;
  readonly bytes: RememberedBytes;
}

/** See the file comment. One look at a time. */
export class CatalogFile {
  #session: ListedSession | undefined;
  /** As it was when it was last read to its end. */
  #read: SessionFile | undefined;
  #progress: Progress | undefined;

  /** Which file was read last; undefined if none was. */
  get identity(): string | undefined {
    return this.#progress?.identity;
  }

  /** The session in the file; undefined if it is none, or could never be read. */
  get session(): ListedSession | undefined {
    return this.#session;
  }

  /**
   * Reads what is new. What fails leaves everything as it was, and is tried again at the next look.
   * @param lookedAtMs When `file` was looked at, in epoch ms.
   */
  async look(file: SessionFile, lookedAtMs: number, options: FactsReadOptions): Promise<void> {
    if (this.#isKnown(file)) return;
    const source = openByteSource(file.path);
    try {
      const size = source.sizeSync();
      const { reader, bytes } = this.#progressIn(file, source, size);
      this.#progress = undefined;
      const trail = new ReadTrail(source, bytes);
      const facts = await reader.readOn(trail, size, options);
      const session = facts && listedSession({ ...file, size }, facts);
      if (!isDeepStrictEqual(session, this.#session)) this.#session = session;
      this.#progress = { identity: file.identity, reader, bytes: trail.bytes };
      // A change in the same moment as the look would not change its times.
      const isSettled = lookedAtMs - file.ctimeMs > stampTrustedAfterMs && size === file.size;
      this.#read = isSettled ? file : undefined;
    } finally {
      source.closeSync();
    }
  }

  #isKnown({ identity, size, ctimeMs }: SessionFile): boolean {
    const read = this.#read;
    return read?.identity === identity && read?.size === size && read.ctimeMs === ctimeMs;
  }

  /** Where reading goes on; at the start if the file is not the one that was read. */
  #progressIn(file: SessionFile, source: FileSource, size: number): Omit<Progress, "identity"> {
    const known = this.#progress;
    const isSame = known?.identity === file.identity && size >= (known?.bytes.cursor ?? 0);
    if (known !== undefined && isSame && isStillThere(source, known.bytes)) return known;
    return { reader: new FactsReader(), bytes: nothingRead };
  }
}
