/**
 * `branchlog entries`: the entries of a session, one line each, in bounded memory; as JSON they are
 * the stored bytes. Only the bodies of selected entries are read.
 */
import type { EntryQuery, Session } from "@branchlog/core";
import type { CommandIo, CommandResult, ReadingOptions } from "../command-io.ts";
import { openForReading } from "../opened-session.ts";
import { shownNowMs, writeLine } from "../command-io.ts";
import { nearest } from "../suggestion.ts";
import type { Output } from "../output.ts";
import { oneLine } from "../text/clean-text.ts";
import { entryLine } from "../text/entry-lines.ts";
import { entryRecord } from "../text/records.ts";

export interface EntriesOptions extends ReadingOptions {
  readonly type: string | undefined;
  readonly customType: string | undefined;
  readonly from: number | undefined;
  readonly on: "log" | "branch";
  readonly reverse: boolean;
  readonly limit: number | undefined;
}

export async function entriesCommand(
  options: EntriesOptions,
  io: CommandIo,
): Promise<CommandResult> {
  const { session } = await openForReading(options.file, io, options);
  const query = queryOf(options, io.signal);
  const limit = options.limit ?? Number.POSITIVE_INFINITY;
  if (options.json) {
    for await (const line of firstOf(session.lines(query), limit)) {
      await writeLine(line, io.out);
      await io.out.writeData("\n", "json");
    }
  } else {
    const { columns, style, isTerminal } = io.out;
    const place = { columns, style, nowMs: shownNowMs(io) };
    for await (const entry of firstOf(session.entries(query), limit)) {
      await io.out.write(isTerminal ? entryLine(entry, place) : entryRecord(entry));
    }
    await writeUnknownTypes(session, options, io.err);
  }
  return 0;
}

/** A misspelt type would look as if there were no such entries. */
async function writeUnknownTypes(
  session: Session,
  { type, customType }: EntriesOptions,
  err: Output,
): Promise<void> {
  const kinds = [...session.tree().kinds()];
  const types = kinds.map((kind) => kind.type);
  const customTypes = kinds.flatMap((kind) => kind.customType ?? []);
  await writeUnknown("type", type, types, err);
  await writeUnknown("custom type", customType, customTypes, err);
}

async function writeUnknown(
  what: string,
  wanted: string | undefined,
  found: readonly string[],
  err: Output,
): Promise<void> {
  if (wanted === undefined || found.includes(wanted)) return;
  const text = `no entries have the ${what} ${wanted}.${nearest(wanted, found)}`;
  await err.write(`${oneLine(text, 200)}\n`);
}

/** Pulls no further item. */
async function* firstOf<T>(items: AsyncIterable<T>, limit: number): AsyncGenerator<T> {
  let left = limit;
  if (left === 0) return;
  for await (const item of items) {
    yield item;
    left -= 1;
    if (left === 0) return;
  }
}

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
