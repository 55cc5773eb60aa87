/** A container of transcripts: a directory of files, or a store of logs. */
import type { SessionKey } from "@anthropic-ai/claude-agent-sdk";
import type { Batch } from "./transcript-lines.ts";

/** One transcript. Its appends are made one after the other. */
export interface Transcript {
  /**
   * Returns once every line of the batch is in the transcript. Throws a BranchlogError otherwise;
   * the same batch again then writes what is missing.
   */
  append(batch: Batch): Promise<void>;
  /** The bytes after a place, or all if it is of another transcript. Undefined: there is none. */
  read(since?: TranscriptPlace): Promise<ReadTranscript | undefined>;
}

export interface TranscriptPlace {
  /** Distinguishes the transcript from one that later takes its name. */
  readonly identity: string;
  readonly at: number;
}

export interface ReadTranscript {
  /** Of what was read. */
  readonly placeAt: (at: number) => TranscriptPlace;
  readonly from: number;
  readonly pieces: AsyncIterable<Buffer> | Iterable<Buffer>;
}

export interface KeptSession {
  readonly sessionId: string;
  /** Whole epoch milliseconds. */
  readonly mtime: number;
  readonly sizeBytes: number;
}

export interface Transcripts {
  at(key: SessionKey): Transcript;
  sessions(projectKey: string): Promise<readonly KeptSession[]>;
  subpaths(key: SessionKey): Promise<readonly string[]>;
  /** Of a session with its subpaths, of a subpath alone; nothing if there is none. */
  remove(key: SessionKey): Promise<void>;
}
