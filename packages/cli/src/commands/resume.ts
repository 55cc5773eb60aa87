/** `branchlog resume`: continues a session in its agent, where the session was. */
import { statSync } from "node:fs";
import { BranchlogError, openSession } from "@branchlog/core";
import type { Session } from "@branchlog/core";
import { agentNamed } from "@branchlog/core/rows";
import { errorCodeOf } from "@branchlog/core/files";
import { writeJsonLine } from "../command-io.ts";
import type { CommandIo, CommandResult, FileOptions } from "../command-io.ts";
import { quoted } from "../failure.ts";
import type { StartedProgram } from "../running-program.ts";
import { sessionPath } from "../session-path.ts";
import { addressedSession } from "../stored-session.ts";
import { oneLine } from "../text/clean-text.ts";

export interface ResumeOptions extends FileOptions {
  /** Only prints what would be run, like `json`. */
  readonly dryRun: boolean;
}

export async function resumeCommand(options: ResumeOptions, io: CommandIo): Promise<CommandResult> {
  const { file, dryRun, json } = options;
  const program = await resumedProgram(file, io);
  const { words, cwd } = program;
  if (json) await writeJsonLine(io.out, { command: words, cwd });
  else if (dryRun) await io.out.write(`${commandText(program)}\n`);
  else return runIn(program, io);
  return 0;
}

async function resumedProgram(file: string, { signal }: CommandIo): Promise<StartedProgram> {
  const stored = await addressedSession(file);
  const session = await (stored === undefined
    ? openSession(await sessionPath(file, signal), { access: "read", signal })
    : openSession({ ...stored, access: "read", signal }));
  try {
    // Decoding boundary: of the header only the id was checked.
    const cwd: unknown = session.header.cwd;
    return { words: wordsFor(session), cwd: typeof cwd === "string" && cwd ? cwd : process.cwd() };
  } finally {
    await session.close();
  }
}

function wordsFor({ transcriptOf, dialect, header: { id }, path }: Session): readonly string[] {
  const agent = agentNamed(transcriptOf ?? dialect);
  const words = agent?.resume({ id, path });
  if (words) return words;
  const message =
    `${agent?.product ?? "The agent"} has no command that resumes a session. branchlog convert ` +
    "or branchlog import writes it for an agent that has one.";
  throw new BranchlogError("ERR_RESUME_FAILED", message, { path });
}

async function runIn(program: StartedProgram, io: CommandIo): Promise<CommandResult> {
  requireDirectory(program);
  await io.out.flush();
  try {
    return await io.runProgram(program);
  } catch (error) {
    const [name = ""] = program.words;
    const isMissing = errorCodeOf(error) === "ENOENT";
    const why = isMissing ? "is not installed, or not on the PATH" : "cannot be started";
    const message = `${name} ${why}. The command is: ${oneLine(commandText(program), 800)}`;
    throw new BranchlogError("ERR_RESUME_FAILED", message, { cause: error });
  }
}

/** Without it, the program itself would fail. */
function requireDirectory(program: StartedProgram): void {
  const { cwd } = program;
  if (isDirectory(cwd)) return;
  const message =
    `The working directory of the session, ${oneLine(cwd, 400)}, does not exist. If it moved, ` +
    `branchlog mv ${quoted(cwd)} NEWDIR moves its sessions; otherwise create it.`;
  throw new BranchlogError("ERR_RESUME_FAILED", message, { path: cwd });
}

/** False also if it is not a path. */
function isDirectory(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch {
    return false;
  }
}

/** To be pasted into a shell. */
function commandText({ words, cwd }: StartedProgram): string {
  return `cd ${quoted(cwd)} && ${words.map((word) => quoted(word)).join(" ")}`;
}
