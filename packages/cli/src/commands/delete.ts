/**
 * `branchlog delete`: deletes sessions, and keeps them for 30 days unless `--permanent`. It asks
 * before; without a terminal it requires `--yes`. The first session that cannot be deleted ends it;
 * those before it are deleted.
 */
import { resolve } from "node:path";
import { isBranchlogError, openSession } from "@branchlog/core";
import { deleteSession } from "@branchlog/library";
import type { DeleteResult } from "@branchlog/library";
import { writeJsonLine } from "../command-io.ts";
import type { CommandIo, CommandResult } from "../command-io.ts";
import { UsageError } from "../failure.ts";
import { sessionPath } from "../session-path.ts";
import { oneLine } from "../text/clean-text.ts";
import { countText, sizeText } from "../text/quantities.ts";
import { titleOf } from "../text/session-text.ts";
import { undoText } from "../text/undo-text.ts";

const titleUnitsMax = 80;

export interface DeleteCommandOptions {
  readonly sessions: readonly string[];
  readonly json: boolean;
  readonly yes: boolean;
  readonly force: boolean;
  readonly permanent: boolean;
}

export async function deleteCommand(
  { sessions, json, yes, force, permanent }: DeleteCommandOptions,
  io: CommandIo,
): Promise<CommandResult> {
  if (!yes && !io.isInteractive) {
    throw new UsageError(
      "Standard input is not a terminal; give --yes to delete without confirmation.",
    );
  }
  const paths = new Set<string>();
  for (const word of sessions) paths.add(resolve(await sessionPath(word, io.signal)));
  if (!yes && !(await isMeant([...paths], permanent, io))) {
    await io.err.write("nothing was deleted\n");
    return 0;
  }
  for (const path of paths) {
    io.signal.throwIfAborted();
    const result = await deleteSession(path, { force, permanent });
    if (json) await writeJsonLine(io.out, result);
    else await io.out.write(resultText(result));
    await io.out.flush();
  }
  return 0;
}

async function isMeant(
  paths: readonly string[],
  permanent: boolean,
  io: CommandIo,
): Promise<boolean> {
  for (const path of paths) await io.err.write(await described(path, io));
  const what = countText(paths.length, "session");
  const question = permanent
    ? `Permanently delete ${what}?`
    : `Delete ${what}? (For 30 days, branchlog undo restores them.)`;
  await io.err.write(`${question} [y/N] `);
  await io.err.flush();
  return /^\s*y(es)?\s*$/i.test(await firstLine(io.input()));
}

/** Only the path is known of a session that does not open. */
async function described(path: string, { signal }: CommandIo): Promise<string> {
  const shown = oneLine(path, 400);
  try {
    const session = await openSession(path, { access: "read", checkpoint: "read", signal });
    const { sizeBytes, dialect } = session;
    const title = titleOf({ name: session.name, summary: await session.summary });
    return `  ${oneLine(title, titleUnitsMax)}  ${dialect}  ${sizeText(sizeBytes)}\n    ${shown}\n`;
  } catch (error) {
    signal.throwIfAborted();
    if (!isBranchlogError(error)) throw error;
    return `  ${shown}\n`;
  }
}

async function firstLine(input: AsyncIterable<Uint8Array>): Promise<string> {
  let text = "";
  for await (const piece of input) {
    text += Buffer.from(piece).toString("utf8");
    if (text.includes("\n")) break;
  }
  return text.split("\n")[0] ?? "";
}

function resultText({ path, operation, kept }: DeleteResult): string {
  const where = operation === null ? "permanently deleted" : "deleted";
  const lines = kept.map((file) => `kept  ${oneLine(file, 400)}\n`);
  return `${where}  ${oneLine(path, 400)}\n${lines.join("")}${undoText(operation)}`;
}
