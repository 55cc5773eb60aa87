/** `branchlog create`: a new session without entries, or with a name. */
import { createSession } from "@branchlog/core";
import { writeJsonLine } from "../command-io.ts";
import type { CommandIo, CommandResult, FileOptions } from "../command-io.ts";
import { requireNoAddress } from "../session-path.ts";
import { oneLine } from "../text/clean-text.ts";

export interface CreateCommandOptions extends FileOptions {
  /** Default: that of the process. */
  readonly cwd: string | undefined;
  readonly name: string | undefined;
  readonly dialect: "pi" | "omp";
}

export async function createCommand(
  { file, json, cwd, name, dialect }: CreateCommandOptions,
  { out, signal }: CommandIo,
): Promise<CommandResult> {
  requireNoAddress(file);
  const session = await createSession(file, { dialect, ...(cwd === undefined ? {} : { cwd }) });
  if (name !== undefined) await session.setName(name, { signal });
  const { path, header } = session;
  if (json) await writeJsonLine(out, { path, id: header.id, cwd: header.cwd, agent: dialect });
  else await out.write(`created ${oneLine(header.id, 60)}\n${oneLine(path, 400)}\n`);
  return 0;
}
