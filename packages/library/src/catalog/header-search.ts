/**
 * Finds the header among the first records of a file: if the first record is not a header, the file
 * is not a session. Blank lines, lines without an object and omp's title slot are skipped. Reads at
 * most one MiB; writes nothing.
 */
import { decodeLine, LineFramer, openByteSource, runSync, scan } from "@branchlog/streaming";
import type { ByteSource, DecodedLine } from "@branchlog/streaming";
import {
  isOfSession,
  currentVersion,
  headerOf,
  titleSlotType,
  readTitleSlot,
} from "@branchlog/core/rows";
import type { SessionHeader } from "@branchlog/core";
import { headerScanBytesMax } from "./limits.ts";

const firstReadBytes = 4096;

/** Takes lines in order until {@link HeaderSearch.isOver}. Pure. */
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

/**
 * The header of the session at `path`, or undefined if it is not a session or its header ends
 * beyond `headerScanBytesMax`.
 *
 * @throws What opening and reading throw; the path must not be a pipe.
 */
export function readSessionHeaderSync(path: string): SessionHeader | undefined {
  const source = openByteSource(path);
  try {
    return searchHeader(source, source.sizeSync());
  } finally {
    source.closeSync();
  }
}

function searchHeader(source: ByteSource, size: number): SessionHeader | undefined {
  const search = new HeaderSearch();
  const framer = new LineFramer({ lineBytesMax: headerScanBytesMax });
  const sink = {
    line: search.line.bind(search),
    // A line within the scan is never too long.
    longLine: () => {},
  };
  const end = Math.min(size, headerScanBytesMax);
  // Doubling: a header takes one small read, 1 MiB of anything else takes nine.
  for (let bytes = firstReadBytes; !search.isOver && framer.offset < end; bytes *= 2) {
    const from = framer.offset;
    const range = { from, to: Math.min(end, from + bytes), chunkBytes: bytes };
    if (runSync(scan(source, framer, sink, range)) === 0) break;
  }
  const rest = framer.rest();
  // Without a newline, the last line is whole only at the end of the file.
  if (size <= headerScanBytesMax && rest?.bytes)
    search.line(rest.bytes, 0, rest.length, rest.offset);
  return search.header;
}

function mayBeObject(bytes: Buffer, start: number, end: number): boolean {
  let at = start;
  while (at < end && (bytes[at] === 0x20 || bytes[at] === 0x09 || bytes[at] === 0x0d)) at += 1;
  return at < end && bytes[at] === 0x7b;
}
