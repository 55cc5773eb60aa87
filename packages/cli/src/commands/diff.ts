/** `branchlog diff`: two branches, or two contexts, of one session or of two; 1 if they differ. */
import { diffBranches, diffContexts } from "@branchlog/tools";
import type { BranchDifference, ComparedPlace, ContextDifference } from "@branchlog/tools";
import { entryId } from "../addressed-entry.ts";
import { shownNowMs, writeJsonLine } from "../command-io.ts";
import type { CommandIo, CommandResult, ReadingOptions } from "../command-io.ts";
import { openForReading } from "../opened-session.ts";
import { commonText, differenceRecord, differenceText } from "../text/diff-text.ts";

export interface DiffOptions extends ReadingOptions {
  /** Entries of `file`, and of `file` or `other`; undefined: the leaf. */
  readonly from: string | undefined;
  readonly to: string | undefined;
  readonly other: string | undefined;
  /** Whether the contexts are compared instead of the paths. */
  readonly context: boolean;
  readonly full: boolean;
}

export async function diffCommand(options: DiffOptions, io: CommandIo): Promise<CommandResult> {
  const { file, from, to, other } = options;
  const { session } = await openForReading(file, io, options);
  const second = other === undefined ? session : (await openForReading(other, io, options)).session;
  const placeOf = (word: string | undefined, of: typeof session): ComparedPlace =>
    word === undefined ? { session: of } : { session: of, at: entryId(word, of) };
  const [before, after] = [placeOf(from, session), placeOf(to, second)];
  const steps = options.context
    ? await diffContexts(before, after)
    : diffBranches(before, after, io.signal);
  let result: CommandResult = 0;
  for await (const step of steps) {
    io.signal.throwIfAborted();
    if (step.kind !== "common") result = 1;
    await writeStep(step, options, io);
  }
  return result;
}

async function writeStep(
  step: BranchDifference | ContextDifference,
  { json, full }: DiffOptions,
  io: CommandIo,
): Promise<void> {
  const { out, err } = io;
  const { columns, style, isTerminal } = out;
  if (json) await writeJsonLine(out, step);
  else if (isTerminal) {
    const shown = { columns, style, isFull: full, nowMs: shownNowMs(io) };
    await out.write(differenceText(step, shown));
  } else if (step.kind !== "common") await out.write(differenceRecord(step));
  // The position of common messages among the others would be lost.
  else if ("lastId" in step) await err.write(commonText(step));
}
