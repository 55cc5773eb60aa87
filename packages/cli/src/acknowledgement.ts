/** The output for an acknowledged entry. */
import type { AppendResult } from "@branchlog/core";
import { writeJsonLine } from "./command-io.ts";
import type { Output } from "./output.ts";
import { oneLine } from "./text/clean-text.ts";

/** Writes the acknowledgement of one entry: as one line, or with `json` as one object. */
export function writeAcknowledgement(
  out: Output,
  result: AppendResult,
  json: boolean,
): Promise<void> {
  return json ? writeJsonLine(out, result) : out.write(acknowledgementText(result));
}

/** `appended 5b2e9d04 below 5b2e9d03, revision 4`. Pure. */
function acknowledgementText({ id, parentId, revision, diverged }: AppendResult): string {
  const place = parentId === null ? "as a root" : `below ${oneLine(parentId, 60)}`;
  return `appended ${id} ${place}, revision ${revision}${divergedText(diverged)}\n`;
}

function divergedText(diverged: AppendResult["diverged"]): string {
  if (diverged === undefined) return "";
  const { entryCount, tailId } = diverged;
  return `, diverged: not below ${entryCount} of other writers, up to ${oneLine(tailId, 60)}`;
}
