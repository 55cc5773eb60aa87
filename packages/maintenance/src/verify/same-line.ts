/** Whether two entries of a log are the same line, white space around it aside. Reads both. */
import { isSpace, skipSpace } from "@branchlog/streaming";
import type { ByteSource } from "@branchlog/streaming";
import { readFullySync } from "@branchlog/core/internal";
import type { IndexTable } from "@branchlog/core/internal";

/** See the file comment. */
export function isSameLine(
  { rows }: IndexTable,
  source: ByteSource,
  one: number,
  other: number,
): boolean {
  const lineAt = (row: number): Buffer => {
    const line = Buffer.allocUnsafe(rows.length(row));
    readFullySync(source, line, line.length, rows.offset(row));
    return trimmed(line);
  };
  return lineAt(one).equals(lineAt(other));
}

/** The bytes without white space at their ends. */
function trimmed(bytes: Buffer): Buffer {
  const start = skipSpace(bytes, 0);
  let end = bytes.length;
  while (end > start && isSpace(bytes[end - 1])) end -= 1;
  return bytes.subarray(start, end);
}
