/**
 * `branchlog verify`: reads every byte of sessions and lists all damage, of several a line each.
 * Changes nothing.
 */
import { isUtf8 } from "node:buffer";
import { readFileSync, statSync } from "node:fs";
import { dirname, resolve, sep } from "node:path";
import { isBranchlogError } from "@branchlog/core";
import { registeredAgents } from "@branchlog/core/rows";
import { documentsBelow } from "@branchlog/library/catalogs";
import { decodeLine } from "@branchlog/streaming";
import { verifySession } from "@branchlog/tools";
import type { VerifyReport } from "@branchlog/tools";
import { writeJsonLine } from "../command-io.ts";
import type { CommandIo, CommandResult } from "../command-io.ts";
import { describeFailure } from "../failure.ts";
import { logFilesBelow } from "../log-files.ts";
import type { LogPlace } from "../log-files.ts";
import { shownWord } from "../path-form.ts";
import { holdsSeveral } from "../place-of-path.ts";
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
  if (only !== undefined && files.length === 1 && !holdsSeveral(only)) {
    const report = await reportOf(only, options, io);
    if (options.json) await writeJsonLine(io.out, report);
    else await io.out.write(verifyText(report, io.out.style));
    return report.ok ? 0 : 1;
  }
  return verifyEach(files, options, io);
}

type EachOptions = Omit<VerifyOptions, "files">;

/** An unreadable one does not prevent checks of the others. */
async function verifyEach(
  files: readonly string[],
  options: EachOptions,
  io: CommandIo,
): Promise<CommandResult> {
  const counts = { all: 0, damaged: 0, unread: 0, others: 0 };
  const places: LogPlace[] = [];
  for await (const place of expanded(files, io.signal)) places.push(place);
  const progress = new ProgressLine(io, "verifying", "sessions");
  for (const [done, place] of places.entries()) {
    io.signal.throwIfAborted();
    progress.show(done, places.length);
    if (place.kind === "file") counts.all += 1;
    try {
      if (place.kind === "unreadable") throw place.error;
      const report = await reportOf(place.path, options, io);
      if (!report.ok) counts.damaged += 1;
      await progress.hide();
      if (options.json) await writeJsonLine(io.out, report);
      else await io.out.write(verdictLine(report, io.out.style));
    } catch (error) {
      io.signal.throwIfAborted();
      if (!files.includes(place.path) && isOther(place.path, error)) {
        counts.all -= 1;
        counts.others += 1;
        continue;
      }
      counts.unread += 1;
      await progress.hide();
      await writeUnread(place.path, error, options.json, io);
    }
  }
  if (!options.json) {
    const { all, damaged, unread, others } = counts;
    const rest = unread === 0 ? "" : `, ${unread} not read`;
    const without = others === 0 ? "" : `; ${countText(others, "other agent file")}`;
    await io.out.write(`${countText(all, "session")}, ${damaged} damaged${rest}${without}\n`);
  }
  return counts.damaged + counts.unread > 0 ? 1 : 0;
}

const otherBytesMax = 16 * 1024 * 1024;

/** Whether an agent keeps other things in the file, all of which can be read: names, its index. */
function isOther(path: string, error: unknown): boolean {
  if (!isBranchlogError(error, "ERR_NOT_A_SESSION")) return false;
  if (statSync(path).size > otherBytesMax) return false;
  const bytes = readFileSync(path);
  if (!isUtf8(bytes)) return false;
  const agents = registeredAgents();
  const isBeside = isBesideSessions(resolve(path));
  const lines = bytes.toString().split("\n");
  return lines.every((line) => {
    const record = decodeLine(Buffer.from(line));
    if (!record.ok) return record.reason === "blank";
    const { value } = record;
    return isBeside || agents.some(({ transcripts }) => transcripts?.recognises(value) === true);
  });
}

/**
 * Whether a file is in the home of an agent of transcripts, and not where its sessions are, except
 * where its subagents are: their workflows have journals.
 */
function isBesideSessions(path: string): boolean {
  if (path.includes(`${sep}subagents${sep}`)) return true;
  const homes = registeredAgents().filter(({ transcripts }) => transcripts !== undefined);
  const places = homes.flatMap((agent) => agent.places());
  const isBelow = (directory: string): boolean => path.startsWith(directory + sep);
  return places.some((place) => isBelow(dirname(place))) && !places.some(isBelow);
}

async function reportOf(file: string, options: EachOptions, io: CommandIo): Promise<VerifyReport> {
  const { session } = await openForReading(file, io, options);
  const { signal } = io;
  const task = { what: "verifying", path: session.path, bytes: session.sizeBytes };
  return withProgress(io, task, () => verifySession(session, { signal }));
}

async function writeUnread(
  word: string,
  error: unknown,
  json: boolean,
  { out }: CommandIo,
): Promise<void> {
  const path = shownWord(word);
  const failure = describeFailure(error, [word]);
  if (json) await writeJsonLine(out, { path, error: failure });
  else {
    const { style } = out;
    await out.write(
      `${style.bad("not read")}  ${oneLine(path, 400)}: ${oneLine(failure.message, 400)}\n`,
    );
  }
}

/** Each file, and what is below each directory or in each database. */
async function* expanded(files: readonly string[], signal: AbortSignal): AsyncGenerator<LogPlace> {
  for (const file of files) {
    if (!holdsSeveral(file)) {
      yield { kind: "file", path: file };
      continue;
    }
    yield* logFilesBelow(file);
    for (const path of await documentsBelow(file, signal)) {
      // Those of lines are among the others.
      if (!path.endsWith(".jsonl")) yield { kind: "file", path };
    }
  }
}
