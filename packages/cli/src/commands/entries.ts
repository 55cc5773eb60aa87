/**
 * `branchlog entries`: the entries of a session, one line each, in bounded memory. Only the bodies
 * of what was asked for are read.
 */
import type { AnyEntry, EntryQuery } from "@branchlog/core";
import { writeJsonLine } from "../command-io.ts";
import type { CommandIo, CommandResult } from "../command-io.ts";
import { openForReading } from "../opened-session.ts";
import type { Style } from "../style.ts";
import { oneLine } from "../text/clean-text.ts";
import { gistOf, paintOf } from "../text/entry-gist.ts";
import { timeText } from "../text/quantities.ts";

/** What `branchlog entries` was asked. */
export interface EntriesOptions {
  readonly file: string;
  readonly json: boolean;
  readonly type: string | undefined;
  readonly customType: string | undefined;
  /** The first revision that counts, from 1. */
  readonly from: number | undefined;
  readonly on: "log" | "branch";
  readonly reverse: boolean;
  /** At most so many; undefined: all. */
  readonly limit: number | undefined;
}

/** Runs the command. */
export async function entriesCommand(
  options: EntriesOptions,
  io: CommandIo,
): Promise<CommandResult> {
  const { session } = await openForReading(options.file, io);
  let left = options.limit ?? Number.POSITIVE_INFINITY;
  if (left === 0) return 0;
  for await (const entry of session.entries(queryOf(options, io.signal))) {
    if (options.json) await writeJsonLine(io.out, entry);
    else await io.out.write(entryLine(entry, io.out));
    left -= 1;
    if (left === 0) break;
  }
  return 0;
}

/** An entry as one line of text, with its newline. Pure. */
function entryLine(
  entry: AnyEntry,
  { columns, style }: { readonly columns: number; readonly style: Style },
): string {
  const id = oneLine(entry.id, 40).padEnd(8);
  const time = timeText(Date.parse(entry.timestamp));
  const taken = id.length + time.length + 6;
  const { kind, text } = gistOf(entry, Math.max(textUnitsMin, columns - taken - kindUnits));
  return `${id}  ${style.faint(time)}  ${paintOf(kind, style)(kind)}  ${text}`
    .trimEnd()
    .concat("\n");
}

const textUnitsMin = 20;
/** What most kinds need. */
const kindUnits = 14;

function queryOf(options: EntriesOptions, signal: AbortSignal): EntryQuery {
  const { from, type, customType, on, reverse } = options;
  return {
    on,
    reverse,
    signal,
    ...(from === undefined ? {} : { from }),
    ...(type === undefined ? {} : { type }),
    ...(customType === undefined ? {} : { customType }),
  };
}
