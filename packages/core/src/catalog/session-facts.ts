/**
 * The facts of one session file that a list shows, folded by the projections of the engine in one
 * streaming pass. Memory is a few chunks and one line, whatever the size of the file. Nothing is
 * kept or written; what another process appends meanwhile is not seen.
 */
import { LineFramer, openByteSource, scan } from "@branchlog/streaming";
import type { FileSource } from "@branchlog/streaming";
import { chunkBytesDefault, lineBytesMaxDefault } from "@branchlog/streaming";
import type { SessionEntry, SessionHeader, SessionMessageEntry } from "../entries/entry-types.ts";
import type { AssistantMessage } from "../entries/message-types.ts";
import { sessionName } from "../projections/name.ts";
import { summary } from "../projections/summary.ts";
import type { SessionSummary } from "../projections/summary.ts";
import { SessionScan } from "./session-scan.ts";
import type { ScanTarget } from "./session-scan.ts";

/** What is known of a session without its text. */
export interface SessionFacts {
  /** As stored: foreign files may lack any field but the id. */
  readonly header: SessionHeader;
  /** The name in force, white space trimmed; undefined if it has none or it was cleared. */
  readonly name: string | undefined;
  /** Messages that lack a readable envelope are counted only if they parse, others always. */
  readonly summary: SessionSummary;
}

/** How {@link readSessionFacts} reads. */
export interface SessionFactsOptions {
  /** Ends the read between two chunks: it rejects with the reason. */
  readonly signal?: AbortSignal | undefined;
  /** Memory to read into, the caller's again afterwards: spares allocations over many files. */
  readonly chunk?: Buffer;
  /** Longest line that is joined in memory, in bytes. Default 16 MiB. */
  readonly lineBytesMax?: number;
  /** Longest message whose text is looked at, in bytes. Default 64 MiB. */
  readonly messageBytesMax?: number;
}

/**
 * Reads the facts of the file at `path`, or undefined if it is not a session. O(bytes of the file);
 * a file that is no session is left after its first record. The path must not be a pipe.
 * @throws What opening and reading throw, and the signal's reason.
 */
export async function readSessionFacts(
  path: string,
  options: SessionFactsOptions = {},
): Promise<SessionFacts | undefined> {
  options.signal?.throwIfAborted();
  const source = openByteSource(path);
  try {
    return await foldFacts(source, options);
  } finally {
    source.closeSync();
  }
}

async function foldFacts(
  source: FileSource,
  { signal, chunk, lineBytesMax = lineBytesMaxDefault, messageBytesMax }: SessionFactsOptions,
): Promise<SessionFacts | undefined> {
  const fold = new FactsFold();
  const lines = new SessionScan(source, fold, messageBytesMax);
  const framer = new LineFramer({ lineBytesMax });
  const size = source.sizeSync();
  const target = chunk ?? Buffer.allocUnsafe(Math.max(1, Math.min(size, chunkBytesDefault)));
  // Until it is known that this is a session, no more than a chunk at a time: most end with it.
  while (!lines.header.isOver && framer.offset < size) {
    const length = Math.min(target.length, size - framer.offset);
    const bytesRead = await source.read(target, 0, length, framer.offset);
    signal?.throwIfAborted();
    if (bytesRead === 0) break;
    framer.push(target.subarray(0, bytesRead), lines);
  }
  if (lines.header.isOver && lines.header.header === undefined) return undefined;
  const from = framer.offset;
  if (from < size) await scan(source, framer, lines, { from, to: size, signal });
  lines.end(framer.rest());
  const { header } = lines.header;
  return header && { header, name: fold.name, summary: fold.summary };
}

/** Stands for every message whose body does not matter: it is counted, and says nothing. */
const silentMessage: SessionMessageEntry = {
  type: "message",
  id: "",
  parentId: null,
  timestamp: "",
  message: {
    role: "toolResult",
    toolCallId: "",
    toolName: "",
    content: [],
    isError: false,
    timestamp: 0,
  },
};

class FactsFold implements ScanTarget {
  #revision = 0;
  #summary = summary.initial();
  #name = sessionName.initial();

  get summary(): SessionSummary {
    return this.#summary;
  }

  get name(): string | undefined {
    return this.#name;
  }

  otherMessage(): void {
    this.entry(silentMessage);
  }

  assistantMessage(timestamp: number): void {
    const message = { role: "assistant", content: [], timestamp };
    // Decoding boundary: of the message, only what its summary needs was read.
    this.entry({ ...silentMessage, message: message as unknown as AssistantMessage });
  }

  entry(entry: SessionEntry): void {
    this.#revision += 1;
    const record = { revision: this.#revision, entry };
    this.#summary = summary.apply(this.#summary, record);
    this.#name = sessionName.apply(this.#name, record);
  }
}
