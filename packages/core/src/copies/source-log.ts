/** What a copy needs to know of its source besides the entries, and whether it stayed the same. */
import { decodeLine, LineFramer, scanSync } from "@branchlog/streaming";
import { slotTitle } from "../catalog/slot-title.ts";
import { BranchlogError } from "../errors.ts";
import type { Engine } from "../session/engine.ts";

/** The title of the title slot before the header, "" if it holds none; undefined without a slot. */
export function slotTitleOf({ log }: Engine): string | undefined {
  const { offset = 0 } = log.state.indexer.header ?? {};
  let title: string | undefined;
  const line = (bytes: Buffer, start: number, end: number, _at: number, number: number): void => {
    if (number !== 1) return;
    const decoded = decodeLine(bytes, start, end);
    if (decoded.ok) title = slotTitle(decoded.value);
  };
  const sink = { line, longLine: () => undefined };
  scanSync(log.file, new LineFramer(), sink, { from: 0, to: offset });
  return title;
}

/**
 * Makes sure that what was read is one session, not the end of another than the beginning.
 * @throws BranchlogError `ERR_LOG_CHANGED`.
 */
export function requireSameLog({ log }: Engine): void {
  const stat = log.statSync();
  if (stat !== null && log.state.isContinuedBy(stat)) return;
  throw logChanged(log.path);
}

/** `ERR_LOG_CHANGED`, for a source that was replaced or rewritten while it was copied. */
export function logChanged(path: string): BranchlogError {
  const message =
    `${path} was replaced, rewritten or deleted while it was read, so nothing was written. ` +
    "Try again.";
  return new BranchlogError("ERR_LOG_CHANGED", message, { path });
}
