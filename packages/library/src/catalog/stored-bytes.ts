/** The bytes of a stored log, as a file is read: for one pass over it, which needs no engine. */
import type { ByteSource } from "@branchlog/streaming";
import type { StoredLog } from "@branchlog/core/types";

/** Throws what the store throws. */
export async function storedBytes(log: StoredLog, signal?: AbortSignal): Promise<Buffer> {
  const { end, pieces = [] } = log.takeOpened?.() ?? {};
  const position = end ?? (await log.end(signal));
  const found = [...pieces];
  const at = found.reduce((sum, { length }) => sum + length, 0);
  if (position !== undefined && at < position.at) {
    for await (const piece of log.read({ ...position, at }, signal)) found.push(piece);
  }
  return Buffer.concat(found);
}

export function bytesSource(bytes: Buffer): ByteSource {
  const readSync: ByteSource["readSync"] = (target, offset, length, position) =>
    bytes.copy(target, offset, position, position + length);
  return { readSync, read: async (...args) => readSync(...args) };
}
