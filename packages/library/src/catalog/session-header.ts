/** Reads the header of a session file: at most one MiB, and writes nothing. */
import { LineFramer, openByteSource, runSync, scan } from "@branchlog/streaming";
import type { ByteSource } from "@branchlog/streaming";
import type { SessionHeader } from "@branchlog/core";
import { HeaderSearch } from "@branchlog/core/rows";
import { headerScanBytesMax } from "./limits.ts";

const firstReadBytes = 4096;

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
