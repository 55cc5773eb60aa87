/**
 * Finds the header among the first records of a file: if the first record is not a header, the file
 * is not a session. Blank lines, lines without an object and omp's title slot are skipped. Pure.
 */
import { decodeLine } from "@branchlog/streaming";
import type { DecodedLine } from "@branchlog/streaming";
import type { SessionHeader } from "../entries/entry-types.ts";
import { currentVersion } from "./header.ts";
import { headerOf, isOfSession, titleSlotType } from "./log-record.ts";
import { readTitleSlot } from "./title-slot.ts";

/** Takes lines in order until {@link HeaderSearch.isOver}. */
export class HeaderSearch {
  #header: SessionHeader | undefined;
  #version = currentVersion;
  #slotTitle: string | null = null;
  #isOver = false;
  #mayBeTranscript = false;

  get header(): SessionHeader | undefined {
    return this.#header;
  }

  /** As stored; may be newer than {@link currentVersion}. */
  get version(): number {
    return this.#version;
  }

  /** "" for an empty slot; null without a slot. */
  get slotTitle(): string | null {
    return this.#slotTitle;
  }

  /** Whether the first record was read. */
  get isOver(): boolean {
    return this.#isOver;
  }

  /** Whether the first record is neither a header nor one that only a session has. */
  get mayBeTranscript(): boolean {
    return this.#mayBeTranscript;
  }

  copy(): HeaderSearch {
    const copy = new HeaderSearch();
    copy.#header = this.#header;
    copy.#version = this.#version;
    copy.#slotTitle = this.#slotTitle;
    copy.#isOver = this.#isOver;
    copy.#mayBeTranscript = this.#mayBeTranscript;
    return copy;
  }

  /** Takes `bytes[start, end)`. Lines after the end of the search are ignored. */
  line(bytes: Buffer, start: number, end: number, offset: number): void {
    // A failing parse costs a hundred times as much as this check.
    if (this.#isOver || !mayBeObject(bytes, start, end)) return;
    const decoded = decodeLine(bytes, start, end);
    if (offset === 0)
      this.#slotTitle = readTitleSlot(bytes.subarray(start, end + 1))?.title ?? null;
    this.take(decoded);
  }

  take(line: DecodedLine): void {
    if (this.#isOver || !line.ok || line.value["type"] === titleSlotType) return;
    const found = headerOf(line);
    if (found !== undefined) {
      this.#header = found.header;
      this.#version = found.version;
    }
    this.#mayBeTranscript = found === undefined && !isOfSession(line.value);
    this.#isOver = true;
  }
}

function mayBeObject(bytes: Buffer, start: number, end: number): boolean {
  let at = start;
  while (at < end && (bytes[at] === 0x20 || bytes[at] === 0x09 || bytes[at] === 0x0d)) at += 1;
  return at < end && bytes[at] === 0x7b;
}
