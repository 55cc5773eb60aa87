/**
 * A document as a log: the bytes that its agent's format converts it to, rebuilt when its file
 * changes. While they begin as before, the log has grown; else it was set back.
 */
import { basename } from "node:path";
import { documentFormatOf } from "../dialects/agent.ts";
import type { DocumentFormat } from "../dialects/agent.ts";
import { LogFile } from "../platform/log-file.ts";
import { isUnchanged } from "../platform/ports.ts";
import type { FileStat } from "../platform/ports.ts";
import { FollowedLog } from "./followed-log.ts";
import type { FileReading } from "./followed-log.ts";
import type { StoredLog, StoredPosition } from "./log-store.ts";
import { storedLogError } from "./stored-names.ts";

/** Undefined: no agent has such documents. Rejects for a damaged one. */
export async function openDocument(
  path: string,
  reading: FileReading,
): Promise<DocumentLog | undefined> {
  const format = documentFormatOf(path);
  if (format === undefined) return undefined;
  const log = new DocumentLog(new LogFile(reading.ports.fs, path).path, format, reading);
  await log.end();
  return log;
}

/** One document has one; what replaced it in its place is the same log, set back. */
const generation = "document";

export class DocumentLog extends FollowedLog implements StoredLog {
  /** Of its agent, which alone writes it. */
  readonly owner: DocumentFormat;
  #bytes: Buffer = Buffer.alloc(0);
  /** Of the last read: what its reader has. */
  #readBytes: Buffer = this.#bytes;
  #stats: readonly (FileStat | null)[] = [];

  constructor(path: string, format: DocumentFormat, reading: FileReading) {
    super(path, reading);
    this.owner = format;
  }

  /** Rejects for a document that is damaged, until it is whole again. */
  async end(): Promise<StoredPosition | undefined> {
    const stats = this.#files().map((file) => this.reading.ports.fs.statSync(file));
    const [first] = stats;
    if (first === null || first === undefined) return undefined;
    if (!areUnchanged(stats, this.#stats)) {
      this.#bytes = await this.owner.toLog(this.address);
      this.#stats = stats;
    }
    return { generation, at: this.#bytes.length };
  }

  /** For one reader, which has what it read last. */
  async *read({ at }: StoredPosition): AsyncGenerator<Buffer, void, undefined> {
    const isThere = (await this.end()) !== undefined;
    const bytes = this.#bytes;
    const isGrown = bytes.subarray(0, at).equals(this.#readBytes.subarray(0, at));
    if (!isThere || !isGrown) throw storedLogError("gone", this.name);
    this.#readBytes = bytes;
    if (at < bytes.length) yield bytes.subarray(at);
  }

  protected override isOwn(name: string): boolean {
    return this.#files().some((file) => basename(file) === name);
  }

  #files(): readonly string[] {
    return this.owner.filesOf?.(this.address) ?? [this.address];
  }
}

function areUnchanged(
  now: readonly (FileStat | null)[],
  before: readonly (FileStat | null)[],
): boolean {
  return (
    now.length === before.length &&
    now.every((stat, at) => {
      const other = before[at] ?? null;
      return stat === null || other === null ? stat === other : isUnchanged(stat, other);
    })
  );
}
