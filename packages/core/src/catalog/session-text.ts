/**
 * The text that was said in a session, for searching. It is read from the file on each call,
 * because the text of all sessions of a directory is too much to keep.
 */
import { LineFramer, openByteSource, scanSync } from "@branchlog/streaming";
import type { SessionEntry } from "../entries/entry-types.ts";
import { isStoredObject, storedText } from "../projections/stored-value.ts";
import { SessionScan } from "./session-scan.ts";

/**
 * The texts of all user and assistant messages, on every branch, in file order, joined by a space;
 * empty ones are left out, and "" means that nothing was said or that the file is no session.
 * Blocks of messages over `messageBytesMax` are not read. Synchronous, O(bytes of the file).
 * @throws What opening and reading throw; the path must not be a pipe.
 */
export function readSessionTextSync(path: string): string {
  const source = openByteSource(path);
  try {
    const texts: string[] = [];
    const lines = new SessionScan(source, {
      otherMessage: () => {},
      entry: (entry) => {
        const text = spokenText(entry);
        if (text !== "") texts.push(text);
      },
    });
    const framer = new LineFramer();
    scanSync(source, framer, lines, { from: 0, to: source.sizeSync() });
    lines.end(framer.rest());
    return texts.join(" ");
  } finally {
    source.closeSync();
  }
}

function spokenText(entry: SessionEntry): string {
  const message: unknown = entry.type === "message" ? entry.message : undefined;
  if (!isStoredObject(message) || !("role" in message) || !("content" in message)) return "";
  if (message.role !== "user" && message.role !== "assistant") return "";
  return storedText(message.content, " ");
}
