/** The text of a session, as in pi's lists: read on each call, since all is too much to keep. */
import { LineFramer, openByteSource, runSync, scan } from "@branchlog/streaming";
import type { ByteSource } from "@branchlog/streaming";
import type { SessionEntry } from "@branchlog/core";
import { isStoredObject, storedText } from "@branchlog/core/rows";
import { SessionScan } from "@branchlog/library/catalogs";

/**
 * The texts of all user and assistant messages of all branches, in file order, joined by a space;
 * "" without any text, or if the file is not a session. Messages over `messageBytesMax` are not
 * read. Synchronous, O(bytes of the file).
 *
 * @throws What opening and reading throw; the path must not be a pipe.
 */
export function readSessionTextSync(path: string): string {
  const source = openByteSource(path);
  try {
    return sessionTextSync(source, source.sizeSync());
  } finally {
    source.closeSync();
  }
}

/** The same of the first `size` bytes of a log that is open. */
export function sessionTextSync(source: ByteSource, size: number): string {
  const texts: string[] = [];
  const lines = new SessionScan(source, {
    otherMessage: () => {},
    entry: (entry) => {
      const text = spokenText(entry);
      if (text !== "") texts.push(text);
    },
  });
  const framer = new LineFramer();
  runSync(scan(source, framer, lines, { from: 0, to: size }));
  lines.end(framer.rest());
  return texts.join(" ");
}

function spokenText(entry: SessionEntry): string {
  const message: unknown = entry.type === "message" ? entry.message : undefined;
  if (!isStoredObject(message) || !("role" in message) || !("content" in message)) return "";
  if (message.role !== "user" && message.role !== "assistant") return "";
  return storedText(message.content, " ");
}
