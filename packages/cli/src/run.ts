/** One run of the command: from its words to its exit code, with failures reported on `err`. */
import { existsSync, statSync } from "node:fs";
import { isBranchlogError } from "@branchlog/core/errors";
import { fileOfAddress } from "@branchlog/core/rows";
import { parseCommand } from "./arguments.ts";
import { commandWords, optionWords } from "./command-words.ts";
import { commandNamed, commandNames } from "./commands.ts";
import type { Command } from "./declaration.ts";
import { writeJsonLine } from "./command-io.ts";
import type { CommandIo } from "./command-io.ts";
import { describeFailure, failureHint, UsageError } from "./failure.ts";
import { completeOption } from "./completion-script.ts";
import { completionOf } from "./completions.ts";
import { programHelp } from "./help-text.ts";
import { isAddress, withoutSecrets } from "./path-form.ts";
import { ClosedOutput } from "./output.ts";
import { candidateLines, quickText } from "./quick-text.ts";
import { oneLine, wholeLine } from "./text/clean-text.ts";

export interface RunSetting {
  readonly io: CommandIo;
  readonly version: () => string;
  /** The path of the user's shell. */
  readonly shell?: string | undefined;
  readonly isDebugging: boolean;
  /** Called before the command runs. */
  readonly onCommand?: (command: Command) => void;
}

export const exitCodes = { fine: 0, failed: 1, usage: 2, interrupted: 130 } as const;

/** Throws nothing. */
export async function run(words: readonly string[], setting: RunSetting): Promise<number> {
  const io = { ...setting.io, version: setting.version };
  const quiet = { ...io, showsProgress: undefined };
  let command: Command | undefined;
  try {
    const text = quickText(words, setting);
    if (text !== undefined) {
      await io.out.write(text);
      await io.out.flush();
      return exitCodes.fine;
    }
    if (words.length === 0) return await begin(io);
    if (words[0] === completeOption) return await complete(words.slice(1), quiet);
    command = parseCommand(withCommand(words));
    setting.onCommand?.(command);
    await registerAgents();
    const code = await command.run(command.options.json ? { ...quiet, isJson: true } : io);
    await io.out.flush();
    await io.err.flush();
    return code;
  } catch (error) {
    if (error instanceof UsageError) return endOfMisuse(error, words, setting.io);
    return endOf(error, command, { ...setting, words });
  }
}

/** Loaded on demand: texts of help need none. */
async function registerAgents(): Promise<void> {
  await import("@branchlog/agents");
}

/** Without any word: a start for people; a program has left out the command. */
async function begin(io: CommandIo): Promise<number> {
  await registerAgents();
  if (io.out.isTerminal) await (await import("./commands/start.ts")).startCommand(io);
  else await io.err.write(programHelp());
  await io.out.flush();
  await io.err.flush();
  return io.out.isTerminal ? exitCodes.fine : exitCodes.usage;
}

async function complete(words: readonly string[], io: CommandIo): Promise<number> {
  await registerAgents();
  const { namedCandidates } = await import("./named-completions.ts");
  const completion = completionOf(words);
  const named = await namedCandidates(completion, words.at(-1) ?? "", io);
  await io.out.write(candidateLines([...completion.candidates, ...named]));
  await io.out.flush();
  return exitCodes.fine;
}

/** A path alone is that of a session, or of a directory of sessions. */
function withCommand(words: readonly string[]): readonly string[] {
  const { name } = commandWords(words);
  if (name === undefined || commandNamed(name) !== undefined) return words;
  if (isAddress(name)) return ["info", ...words];
  const { file } = fileOfAddress(name);
  if (!existsSync(file)) return words;
  return [statSync(file).isDirectory() ? "list" : "info", ...words];
}

/** Throws nothing. */
export async function endOf(
  error: unknown,
  command: Command | undefined,
  { io, isDebugging, words }: RunSetting & { readonly words: readonly string[] },
): Promise<number> {
  // The reader closed the output: a success.
  if (error instanceof ClosedOutput) return exitCodes.fine;
  try {
    // Results found before the failure are printed before it.
    await io.out.flush();
    if (io.signal.aborted) return exitCodes.interrupted;
    await writeFailure(error, { command, words }, io);
    if (isDebugging) await io.err.write(`${withoutSecrets(stackOf(error), words)}\n`);
    await io.err.flush();
  } catch {
    // The output cannot be written; the exit code still reports the failure.
  }
  return exitCodes.failed;
}

const usageCode = "ERR_USAGE";

async function endOfMisuse(
  error: UsageError,
  words: readonly string[],
  { err }: CommandIo,
): Promise<number> {
  const message = withoutSecrets(error.message, words);
  const { name } = commandWords(words);
  const command = commandNames.find((one) => one === name);
  const wantsJson = optionWords(words).some((word) => word === "--json" || word === "--json=true");
  const about = command === undefined ? "branchlog" : `branchlog ${command}`;
  try {
    if (wantsJson) await writeJsonLine(err, { error: { code: usageCode, message } });
    else await err.write(`${oneLine(message, Infinity)}\nSee ${about} --help.\n`);
    await err.flush();
  } catch {
    // The output cannot be written; the exit code still reports the failure.
  }
  return exitCodes.usage;
}

async function writeFailure(
  error: unknown,
  { command, words }: { readonly command: Command | undefined; readonly words: readonly string[] },
  { err }: CommandIo,
): Promise<void> {
  const failure = describeFailure(error, words);
  if (command?.options.json === true) {
    await writeJsonLine(err, { error: failure });
    return;
  }
  const hint = failureHint(failure);
  const code = isBranchlogError(error) ? err.style.faint(` (${failure.code})`) : "";
  await err.write(`${err.style.bad("error:")} ${wholeLine(failure.message)}${code}\n`);
  if (hint !== undefined) await err.write(`${hint}\n`);
}

function stackOf(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
