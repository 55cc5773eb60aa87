/**
 * Finds the header of a session among the first records of its file. The first record decides: if
 * it is not a header, the file is not a session. Blank lines, lines that hold no object and omp's
 * title slot are not records here. Lookups read no further than one MiB; nothing is written.
 */
import { decodeLine, LineFramer, openByteSource, scanSync } from "@branchlog/streaming";
import type { ByteSource, DecodedLine } from "@branchlog/streaming";
import { isOfSession } from "../dialects/foreign-record.ts";
import { currentVersion } from "../dialects/header.ts";
import { headerOf, titleSlotType } from "../dialects/log-record.ts";
import { readTitleSlot } from "../dialects/title-slot.ts";
import type { SessionHeader } from "../entries/entry-types.ts";
import { headerScanBytesMax } from "./limits.ts";

const firstReadBytes = 4096;

/** Takes the lines of a file in order until {@link HeaderSearch.isOver}. Pure. */
export class HeaderSearch {
  #header: SessionHeader | undefined;
  #version = currentVersion;
  #slotTitle: string | null = null;
  #isOver = false;
  #mayBeTranscript = false;

  /** The header as stored, once found. */
  get header(): SessionHeader | undefined {
    return this.#header;
  }

  /** The version that the header says, once found; it may be newer than what is known. */
  get version(): number {
    return this.#version;
  }

  /** The title of the title slot, "" if it holds none; null without a slot. */
  get slotTitle(): string | null {
    return this.#slotTitle;
  }

  /** Whether the first record was met, so that it is known if there is a header. */
  get isOver(): boolean {
    return this.#isOver;
  }

  /** Whether the first record is neither a header nor one that only a session has. */
  get mayBeTranscript(): boolean {
    return this.#mayBeTranscript;
  }

  /** A copy of the state, which continues by itself. */
  copy(): HeaderSearch {
    const copy = new HeaderSearch();
    copy.#header = this.#header;
    copy.#version = this.#version;
    copy.#slotTitle = this.#slotTitle;
    copy.#isOver = this.#isOver;
    copy.#mayBeTranscript = this.#mayBeTranscript;
    return copy;
  }

  /** Takes the next line, `bytes[start, end)`. Lines after the end of the search are ignored. */
  line(bytes: Buffer, start: number, end: number, offset: number): void {
    // Failing to parse costs a hundred times what it costs to see that it would.
    if (this.#isOver || !mayBeObject(bytes, start, end)) return;
    const decoded = decodeLine(bytes, start, end);
    if (offset === 0)
      this.#slotTitle = readTitleSlot(bytes.subarray(start, end + 1))?.title ?? null;
    this.take(decoded);
  }

  /** The same for a line that was decoded already. */
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
 * The header of the session at `path`, or undefined if the file is not a session, or if its header
 * does not end within the first `headerScanBytesMax` bytes. Reads little more than the header.
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
    // No line within the scan is longer than it.
    longLine: () => {},
  };
  const end = Math.min(size, headerScanBytesMax);
  // Doubling: a header takes one small read, and 1 MiB of something else takes nine.
  for (let bytes = firstReadBytes; !search.isOver && framer.offset < end; bytes *= 2) {
    const from = framer.offset;
    const range = { from, to: Math.min(end, from + bytes), chunkBytes: bytes };
    if (scanSync(source, framer, sink, range) === 0) break;
  }
  const rest = framer.rest();
  // Without a newline, the last line is whole only if the file ends with it.
  if (size <= headerScanBytesMax && rest?.bytes)
    search.line(rest.bytes, 0, rest.length, rest.offset);
  return search.header;
}

/** Whether the first byte that is not white space opens an object. */
function mayBeObject(bytes: Buffer, start: number, end: number): boolean {
  let at = start;
  while (at < end && (bytes[at] === 0x20 || bytes[at] === 0x09 || bytes[at] === 0x0d)) at += 1;
  return at < end && bytes[at] === 0x7b;
}
