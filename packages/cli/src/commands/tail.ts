/**
 * `branchlog tail`: the last entries of a session, and new ones of any process. Messages that
 * agents hide from their users (`display: false`) are omitted unless requested.
 */
import type { Session } from "@branchlog/core";
import type { EntryEvent } from "@branchlog/core/live";
import { live } from "@branchlog/core/live";
import { shownNowMs, writeJsonLine, writeLine } from "../command-io.ts";
import type { CommandIo, CommandResult, ReadingOptions } from "../command-io.ts";
import { openForReading } from "../opened-session.ts";
import type { Output } from "../output.ts";
import { entryLine } from "../text/entry-lines.ts";
import { entryRecord } from "../text/records.ts";

export interface TailOptions extends ReadingOptions {
  readonly follow: boolean;
  /** Default: the last entries. */
  readonly from: number | undefined;
  /** Default: ten. */
  readonly last: number | undefined;
  readonly all: boolean;
}

const lastDefault = 10;

/** While it follows, only an interruption or a closed output ends it. */
export async function tailCommand(options: TailOptions, io: CommandIo): Promise<CommandResult> {
  const { session } = await openForReading(options.file, io, options);
  const { follow, last = lastDefault } = options;
  const from = options.from ?? Math.max(0, session.revision - last) + 1;
  const show = options.json ? showJson : showText;
  // Lines that stay on the screen while others follow would soon have wrong ages.
  const place = { out: io.out, err: io.err, nowMs: follow ? undefined : shownNowMs(io) };
  for await (const event of live(session).events({ from, live: follow, signal: io.signal })) {
    if (event.kind === "entry" && !options.all && isHidden(event)) continue;
    await show(event, session, place);
    // New entries are shown at once; the replayed ones may be buffered.
    if (event.kind !== "entry" || event.revision >= session.revision) await io.out.flush();
  }
  return 0;
}

function isHidden({ entry }: Extract<EntryEvent, { kind: "entry" }>): boolean {
  return entry.type === "custom_message" && !entry.display;
}

interface Place {
  readonly out: Output;
  readonly err: Output;
  readonly nowMs: number | undefined;
}

async function showText(
  event: EntryEvent,
  _session: Session,
  { out, err, nowMs }: Place,
): Promise<void> {
  const { columns, style, isTerminal } = out;
  switch (event.kind) {
    case "entry":
      if (!isTerminal) return out.write(entryRecord(event.entry));
      return out.write(entryLine(event.entry, { columns, style, nowMs }));
    case "reset": {
      // Not among the records of a pipe.
      const shown = isTerminal ? out : err;
      await shown.write(shown.style.faint("— the file was replaced; from its start —\n"));
      return shown.flush();
    }
    case "migrated":
      return undefined;
  }
}

async function showJson(event: EntryEvent, session: Session, { out }: Place): Promise<void> {
  if (event.kind !== "entry") return writeJsonLine(out, event);
  const { entry, revision } = event;
  for await (const line of session.lines({ from: revision })) {
    // The file may have been replaced since the entry was read.
    if (line.id !== entry.id || line.revision !== revision) break;
    await out.writeData(`{"revision":${revision},"entry":`, "json");
    await writeLine(line, out);
    return out.writeData("}\n", "json");
  }
  return writeJsonLine(out, { revision, entry });
}
