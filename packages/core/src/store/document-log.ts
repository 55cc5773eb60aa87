/**
 * A document as a log: the bytes that its agent's format makes of it, made anew when its file
 * changes. While they begin as before, the log has grown; else it was set back.
 */
import { basename, dirname } from "node:path";
import { documentFormatOf } from "../dialects/agent.ts";
import type { DocumentFormat } from "../dialects/agent.ts";
import { BranchlogError } from "../errors.ts";
import { LogFile } from "../platform/log-file.ts";
import { watchWithPoll } from "../platform/polled-hints.ts";
import { isUnchanged } from "../platform/ports.ts";
import type { FileStat, Ports } from "../platform/ports.ts";
import type { StoredAppend, StoredLog, StoredPosition } from "./log-store.ts";
import { storedLogGone } from "./stored-names.ts";

export interface DocumentReading {
  readonly ports: Pick<Ports, "fs" | "clock" | "hints">;
  readonly pollMs: number;
}

/** Undefined: no agent has such documents. Rejects for a damaged one. */
export async function openDocument(
  path: string,
  reading: DocumentReading,
): Promise<DocumentLog | undefined> {
  const format = documentFormatOf(path);
  if (format === undefined) return undefined;
  const log = new DocumentLog(new LogFile(reading.ports.fs, path).path, format, reading);
  await log.end();
  return log;
}

/** One document has one; what replaced it in its place is the same log, set back. */
const generation = "document";

export class DocumentLog implements StoredLog {
  /** Of its agent, which alone writes it. */
  readonly owner: DocumentFormat;
  readonly name: string;
  readonly address: string;
  readonly #reading: DocumentReading;
  #bytes: Buffer = Buffer.alloc(0);
  /** Of the last read: what its reader has. */
  #readBytes: Buffer = this.#bytes;
  #stat: FileStat | undefined;

  constructor(path: string, format: DocumentFormat, reading: DocumentReading) {
    this.owner = format;
    this.name = basename(path);
    this.address = path;
    this.#reading = reading;
  }

  /** Rejects for a document that is damaged, until it is whole again. */
  async end(): Promise<StoredPosition | undefined> {
    const stat = this.#reading.ports.fs.statSync(this.address);
    if (stat === null) return undefined;
    if (this.#stat === undefined || !isUnchanged(stat, this.#stat)) {
      this.#bytes = await this.owner.toLog(this.address);
      this.#stat = stat;
    }
    return { generation, at: this.#bytes.length };
  }

  /** For one reader, which has what it read last. */
  async *read({ at }: StoredPosition): AsyncGenerator<Buffer, void, undefined> {
    const isThere = (await this.end()) !== undefined;
    const bytes = this.#bytes;
    const isGrown = bytes.subarray(0, at).equals(this.#readBytes.subarray(0, at));
    if (!isThere || !isGrown) throw storedLogGone(this.name);
    this.#readBytes = bytes;
    if (at < bytes.length) yield bytes.subarray(at);
  }

  /** Never asked: a log that has an owner is only read. */
  append(): Promise<StoredAppend> {
    const { address: path } = this;
    return Promise.reject(new BranchlogError("ERR_READ_ONLY", `${path} is only read.`, { path }));
  }

  watch(onHint: () => void): () => void {
    const { ports, pollMs } = this.#reading;
    const directory = dirname(this.address);
    return watchWithPoll({ ports, directory, pollMs }, (name) => {
      if (name === null || name === this.name) onHint();
    });
  }
}
