/** Bytes in memory as a source that counts what is read, and can read short or fail. */
import type { ByteSource } from "@branchlog/streaming";

/** How a {@link MemorySource} behaves. */
export interface MemorySourceOptions {
  /** Longest answer, in bytes: shorter than what was requested. */
  readonly readBytesMax?: number;
  /** Called before each read, with its 1-based number. What it throws, the read throws. */
  readonly onRead?: (read: number) => void;
}

/** A {@link ByteSource} over a buffer. */
export class MemorySource implements ByteSource {
  readonly #bytes: Buffer;
  readonly #options: MemorySourceOptions;
  #inFlight = 0;
  reads = 0;
  bytesRead = 0;
  inFlightMax = 0;

  constructor(bytes: Buffer, options: MemorySourceOptions = {}) {
    this.#bytes = bytes;
    this.#options = options;
  }

  /** Whether no read is awaited. */
  get isIdle(): boolean {
    return this.#inFlight === 0;
  }

  readSync(target: Buffer, offset: number, length: number, position: number): number {
    this.reads += 1;
    this.#options.onRead?.(this.reads);
    const end = position + Math.min(length, this.#options.readBytesMax ?? length);
    const bytesRead = this.#bytes.copy(target, offset, position, end);
    this.bytesRead += bytesRead;
    return bytesRead;
  }

  async read(target: Buffer, offset: number, length: number, position: number): Promise<number> {
    this.#inFlight += 1;
    this.inFlightMax = Math.max(this.inFlightMax, this.#inFlight);
    try {
      // The bytes come late, as from a disk: a reader that reuses the target too early is found.
      await new Promise((resolve) => {
        setImmediate(resolve);
      });
      return this.readSync(target, offset, length, position);
    } finally {
      this.#inFlight -= 1;
    }
  }
}
