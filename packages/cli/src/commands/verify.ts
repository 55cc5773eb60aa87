/**
 * `branchlog verify`: reads every byte of sessions and lists all damage, of several a line each.
 * Changes nothing.
 */
import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { verifySession } from "@branchlog/maintenance";
import type { VerifyReport } from "@branchlog/maintenance";
import { writeJsonLine } from "../command-io.ts";
import type { CommandIo, CommandResult } from "../command-io.ts";
import { describeFailure } from "../failure.ts";
import { openForReading } from "../opened-session.ts";
import { ProgressLine, withProgress } from "../progress.ts";
import { oneLine } from "../text/clean-text.ts";
import { verdictLine } from "../text/findings.ts";
import { countText } from "../text/quantities.ts";
import { verifyText } from "../text/verify-text.ts";

export interface VerifyOptions {
  /** Paths, names or ids of sessions, and directories with everything below them. */
  readonly files: readonly string[];
  readonly json: boolean;
  readonly noSave: boolean;
}

export async function verifyCommand(
  { files, ...options }: VerifyOptions,
  io: CommandIo,
): Promise<CommandResult> {
  const [only] = files;
  if (only !== undefined && files.length === 1 && !(await isDirectory(only))) {
    const report = await reportOf(only, options, io);
    if (options.json) await writeJsonLine(io.out, report);
    else await io.out.write(verifyText(report, io.out.style));
    return report.ok ? 0 : 1;
  }
  return verifyEach(files, options, io);
}

type EachOptions = Omit<VerifyOptions, "files">;

/** One that cannot be read does not keep the others from being checked. */
async function verifyEach(
  files: readonly string[],
  options: EachOptions,
  io: CommandIo,
): Promise<CommandResult> {
  const all = await expanded(files);
  const counts = { damaged: 0, unread: 0 };
  const progress = new ProgressLine(io, "verifying", "sessions");
  for (const [done, file] of all.entries()) {
    io.signal.throwIfAborted();
    progress.show(done, all.length);
    try {
      const report = await reportOf(file, options, io);
      if (!report.ok) counts.damaged += 1;
      await progress.hide();
      if (options.json) await writeJsonLine(io.out, report);
      else await io.out.write(verdictLine(report, io.out.style));
    } catch (error) {
      io.signal.throwIfAborted();
      counts.unread += 1;
      await progress.hide();
      await writeUnread(file, error, options.json, io);
    }
  }
  if (!options.json) {
    const { damaged, unread } = counts;
    const rest = unread === 0 ? "" : `, ${unread} not read`;
    await io.out.write(`${countText(all.length, "session")}, ${damaged} damaged${rest}\n`);
  }
  return counts.damaged + counts.unread > 0 ? 1 : 0;
}

async function reportOf(file: string, options: EachOptions, io: CommandIo): Promise<VerifyReport> {
  const { session } = await openForReading(file, io, options);
  const { signal } = io;
  const task = { what: "verifying", path: session.path, bytes: session.sizeBytes };
  return withProgress(io, task, () => verifySession(session, { signal }));
}

async function writeUnread(
  path: string,
  error: unknown,
  json: boolean,
  { out }: CommandIo,
): Promise<void> {
  const failure = describeFailure(error);
  if (json) await writeJsonLine(out, { path, error: failure });
  else {
    const { style } = out;
    await out.write(
      `${style.bad("not read")}  ${oneLine(path, 400)}: ${oneLine(failure.message, 400)}\n`,
    );
  }
}

/** The logs below directories, also those whose headers are damaged, which no list has. */
async function expanded(files: readonly string[]): Promise<readonly string[]> {
  const all: string[] = [];
  for (const file of files) {
    if (!(await isDirectory(file))) all.push(file);
    else {
      const names = await readdir(file, { recursive: true });
      const logs = names.filter((name) => name.endsWith(".jsonl"));
      for (const name of logs.toSorted()) all.push(join(file, name));
    }
  }
  return all;
}

async function isDirectory(path: string): Promise<boolean> {
  try {
    return (await stat(path)).isDirectory();
  } catch {
    // A name or an id, or opening it reports the error.
    return false;
  }
}
