/** `branchlog name`: prints, sets or clears the name of a session. */
import { normalizeName } from "@branchlog/core/entries";
import { writeAcknowledgement, writeJsonLine } from "../command-io.ts";
import type { CommandIo, CommandResult, ReadingOptions } from "../command-io.ts";
import { UsageError } from "../failure.ts";
import { appending, openForReading } from "../opened-session.ts";
import { wholeLine } from "../text/clean-text.ts";

export interface NameOptions extends ReadingOptions {
  /** Undefined: print the name. */
  readonly text: string | undefined;
  readonly clear: boolean;
}

/** A session without a name prints nothing, for scripts. */
export async function nameCommand(options: NameOptions, io: CommandIo): Promise<CommandResult> {
  const { file, json, text, clear } = options;
  if (text === undefined && !clear) {
    const { session } = await openForReading(file, io, options);
    const { name } = session;
    if (json) await writeJsonLine(io.out, { name: name ?? null });
    else if (name !== undefined) await io.out.write(`${wholeLine(name)}\n`);
    return 0;
  }
  const name = normalizeName(text ?? "");
  if (name === "" && !clear) throw new UsageError("A name needs a visible character; see --clear.");
  await appending(file, io, async (session) => {
    const result = await session.setName(name, { signal: io.signal });
    if (result !== null) await writeAcknowledgement(io.out, result, json);
    else if (json) await writeJsonLine(io.out, { titleSlot: true });
    else await io.out.write("renamed in the title slot\n");
  });
  return 0;
}
