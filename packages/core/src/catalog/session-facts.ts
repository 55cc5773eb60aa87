/**
 * The facts of one session file that a list shows, folded by the projections of the engine in one
 * streaming pass, which goes on where it ended when the file has grown. Memory is a few chunks and
 * one line, whatever the size of the file. Nothing is written.
 */
import { LineFramer, openByteSource, scan } from "@branchlog/streaming";
import type { ByteSource } from "@branchlog/streaming";
import { chunkBytesDefault, lineBytesMaxDefault } from "@branchlog/streaming";
import type { SessionEntry, SessionHeader, SessionMessageEntry } from "../entries/entry-types.ts";
import type { AssistantMessage } from "../entries/message-types.ts";
import { sessionName } from "../projections/name.ts";
import { summary } from "../projections/summary.ts";
import type { SessionSummary } from "../projections/summary.ts";
import { HeaderSearch } from "./header-search.ts";
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

/** How one read goes. */
export interface FactsReadOptions {
  /** Ends the read between two chunks: it rejects with the reason. */
  readonly signal?: AbortSignal | undefined;
  /** Memory to read into, the caller's again afterwards: spares allocations over many files. */
  readonly chunk?: Buffer | undefined;
}

/** How lines are taken in. */
export interface FactsOptions {
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
  options: FactsOptions & FactsReadOptions = {},
): Promise<SessionFacts | undefined> {
  options.signal?.throwIfAborted();
  const source = openByteSource(path);
  try {
    return await new FactsReader(options).readOn(source, source.sizeSync(), options);
  } finally {
    source.closeSync();
  }
}

/** Reads the facts of one file, and reads on as it grows. After a failure it is of no use. */
export class FactsReader {
  readonly #framer: LineFramer;
  readonly #header = new HeaderSearch();
  readonly #fold = new FactsFold();
  readonly #messageBytesMax: number | undefined;

  constructor({ lineBytesMax = lineBytesMaxDefault, messageBytesMax }: FactsOptions = {}) {
    this.#framer = new LineFramer({ lineBytesMax });
    this.#messageBytesMax = messageBytesMax;
  }

  /** How many bytes of the file were read. */
  get offset(): number {
    return this.#framer.offset;
  }

  /**
   * The facts of the first `size` bytes of the file, or undefined if it is no session. Reads what
   * was not read yet; the rest has to be what it was.
   */
  async readOn(
    source: ByteSource,
    size: number,
    { signal, chunk }: FactsReadOptions,
  ): Promise<SessionFacts | undefined> {
    const framer = this.#framer;
    const options = { header: this.#header, messageBytesMax: this.#messageBytesMax };
    const lines = new SessionScan(source, this.#fold, options);
    const newBytes = size - framer.offset;
    const target = chunk ?? Buffer.allocUnsafe(Math.max(1, Math.min(newBytes, chunkBytesDefault)));
    // Until it is known that this is a session, no more than a chunk at a time: most end with it.
    while (!this.#header.isOver && framer.offset < size) {
      const length = Math.min(target.length, size - framer.offset);
      const bytesRead = await source.read(target, 0, length, framer.offset);
      signal?.throwIfAborted();
      if (bytesRead === 0) break;
      framer.push(target.subarray(0, bytesRead), lines);
    }
    if (this.#header.isOver && this.#header.header === undefined) return undefined;
    const from = framer.offset;
    if (from < size) await scan(source, framer, lines, { from, to: size, signal });
    // The next bytes may come in a year.
    framer.release();
    return this.#fold.keeping(() => this.#factsAtEnd(lines));
  }

  /** The end without a newline counts for now; it may be only the beginning of a line. */
  #factsAtEnd(lines: SessionScan): SessionFacts | undefined {
    lines.end(this.#framer.rest());
    const { header } = this.#header;
    return header && { header, name: this.#fold.name, summary: this.#fold.summary };
  }
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
  #state = { revision: 0, summary: summary.initial(), name: sessionName.initial() };

  get summary(): SessionSummary {
    return this.#state.summary;
  }

  get name(): string | undefined {
    return this.#state.name;
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
    const revision = this.#state.revision + 1;
    const record = { revision, entry };
    this.#state = {
      revision,
      summary: summary.apply(this.#state.summary, record),
      name: sessionName.apply(this.#state.name, record),
    };
  }

  /** Forgets what comes while `read` runs. */
  keeping<T>(read: () => T): T {
    const before = this.#state;
    try {
      return read();
    } finally {
      this.#state = before;
    }
  }
}
