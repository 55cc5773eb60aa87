/** The title slot of omp in a log, if it has one: it is written in place, so it is read again. */
import { isDeepStrictEqual } from "node:util";
import type { ByteSource } from "@branchlog/streaming";
import { readFullySync } from "../bodies/body-reader.ts";
import { readTitleSlot, titleSlotBytes } from "../dialects/title-slot.ts";
import type { TitleSlot } from "../dialects/title-slot.ts";

/** See the file comment. Every look is one small read where a slot may be, and none elsewhere. */
export class TitleSlotReader {
  readonly #source: ByteSource;
  readonly #headerOffset: () => number;
  #known: TitleSlot | undefined;

  /** @param headerOffset Offset of the header of the log. */
  constructor(source: ByteSource, headerOffset: () => number) {
    this.#source = source;
    this.#headerOffset = headerOffset;
  }

  /** What it said when it was read; undefined if the log has none. */
  get known(): TitleSlot | undefined {
    return this.#known;
  }

  /**
   * Reads it. What it says is taken over if `isOfLog` then says yes: asked before, that would not
   * tell of which log these bytes are. Returns the answer.
   */
  read(isOfLog: () => boolean = () => true): boolean {
    const now = this.#now();
    const isOurs = isOfLog();
    if (isOurs) this.#known = now;
    return isOurs;
  }

  /** Whether it says now what is known of it. */
  isSame(): boolean {
    return isDeepStrictEqual(this.#now(), this.#known);
  }

  #now(): TitleSlot | undefined {
    if (this.#headerOffset() < titleSlotBytes) return undefined;
    const bytes = Buffer.alloc(titleSlotBytes);
    readFullySync(this.#source, bytes, bytes.length, 0);
    return readTitleSlot(bytes);
  }
}
