/** `branchlog undo` and `branchlog ops`: undoes and lists operations on files of sessions. */
import { operations, undoOperation } from "@branchlog/library";
import type { FileChange, RecordedOperation } from "@branchlog/library";
import { shownNowMs, writeJsonLine } from "../command-io.ts";
import type { CommandIo, CommandResult } from "../command-io.ts";
import { problemsTo } from "../archive-problems.ts";
import { oneLine } from "../text/clean-text.ts";
import { countText, isoTime, sizeText, whenText } from "../text/quantities.ts";
import { recordLine } from "../text/records.ts";

export interface UndoOptions {
  readonly operation: string | undefined;
  readonly json: boolean;
}

export async function undoCommand(
  { operation, json }: UndoOptions,
  io: CommandIo,
): Promise<CommandResult> {
  const { out } = io;
  const result = await undoOperation(operation, { onProblem: problemsTo(io), signal: io.signal });
  if (json) {
    const { id, kind } = result.undone;
    await writeJsonLine(out, { ...result, undone: { id, kind } });
    return 0;
  }
  const { kind, id } = result.undone;
  await out.write(`undone: ${kind} ${id}\n`);
  for (const change of result.changes) await out.write(changeLine(change));
  if (result.changes.length === 0) await out.write("  everything was already as before\n");
  return 0;
}

const shownChangesMax = 3;

export interface OpsOptions {
  readonly limit: number | undefined;
  readonly json: boolean;
}

/** The last one first. */
export async function opsCommand(
  { limit, json }: OpsOptions,
  io: CommandIo,
): Promise<CommandResult> {
  const { out, err } = io;
  const all = (await operations({ onProblem: problemsTo(io) })).toReversed().slice(0, limit);
  for (const operation of all) {
    if (json) await writeJsonLine(out, operation);
    else if (out.isTerminal) await out.write(operationText(operation, io));
    else await out.write(operationRecord(operation));
  }
  if (all.length === 0 && !json) await err.write("no operations removed or replaced sessions\n");
  return 0;
}

function operationText(operation: RecordedOperation, io: CommandIo): string {
  const { id, kind, timeMs, changes, undoes } = operation;
  const { style } = io.out;
  const state = stateOf(operation);
  const sizes = changes.map((change) => ("file" in change ? change.file.sizeBytes : 0));
  const bytes = sizes.reduce((sum, size) => sum + size, 0);
  const what = [
    whenText(timeMs, shownNowMs(io)),
    style.heading(kind),
    countText(changes.length, "file"),
    ...(bytes > 0 ? [sizeText(bytes)] : []),
    ...(undoes === undefined ? [] : [`of ${undoes}`]),
    ...(state === "" ? [] : [style.warning(state)]),
  ];
  const shown = changes.slice(0, shownChangesMax).map((change) => changeLine(change));
  const more = changes.length - shown.length;
  const rest = more > 0 ? `  and ${more} more\n` : "";
  return `${id}  ${what.join("  ")}\n${shown.join("")}${rest}`;
}

function stateOf({ undoneBy, isExpired }: RecordedOperation): string {
  if (undoneBy !== undefined) return "undone";
  return isExpired ? "no longer kept" : "";
}

/** `id, time, kind, files, state, first path`. */
function operationRecord(operation: RecordedOperation): string {
  const { id, timeMs, kind, changes } = operation;
  const [first] = changes;
  const path = first === undefined ? undefined : pathOf(first);
  return recordLine([id, isoTime(timeMs), kind, changes.length, stateOf(operation), path]);
}

function changeLine(change: FileChange): string {
  const path = oneLine(pathOf(change), 400);
  if (change.kind !== "moved") return `  ${change.kind}  ${path}\n`;
  return `  moved  ${path}\n      to  ${oneLine(change.to, 400)}\n`;
}

function pathOf(change: FileChange): string {
  switch (change.kind) {
    case "removed":
    case "restored":
      return change.file.path;
    case "moved":
      return change.from;
    case "replaced":
      return change.path;
  }
}
