/** `branchlog label`: sets or clears the label of an entry. */
import { BranchlogError } from "@branchlog/core";
import { entryId } from "../addressed-entry.ts";
import { writeAcknowledgement } from "../command-io.ts";
import type { CommandIo, CommandResult, FileOptions } from "../command-io.ts";
import { appending } from "../opened-session.ts";

export interface LabelOptions extends FileOptions {
  readonly id: string;
  /** Undefined or empty: clears the label. */
  readonly text: string | undefined;
}

/** @throws BranchlogError `ERR_ENTRY_NOT_FOUND`: labels of missing entries are rejected. */
export async function labelCommand(options: LabelOptions, io: CommandIo): Promise<CommandResult> {
  const { file, json, id, text = "" } = options;
  await appending(file, io, async (session) => {
    const targetId = entryId(id, session);
    if ((await session.entry(targetId)) === undefined) {
      const { path } = session;
      const message = `There is no entry ${targetId} in ${path}; nothing was written.`;
      throw new BranchlogError("ERR_ENTRY_NOT_FOUND", message, { path, id: targetId });
    }
    const label = text === "" ? {} : { label: text };
    const result = await session.append(
      { type: "label", targetId, ...label },
      { signal: io.signal },
    );
    await writeAcknowledgement(io.out, result, json);
  });
  return 0;
}
