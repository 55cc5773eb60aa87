/**
 * `branchlog tail`: the last entries of a session, and those that come, of whatever process. What
 * agents hide from their users (messages with `display: false`) is left out unless it is asked for.
 */
import type { Session } from "@branchlog/core";
import type { EntryEvent } from "@branchlog/core/live";
import { writeJsonLine } from "../command-io.ts";
import type { CommandIo, CommandResult } from "../command-io.ts";
import { openForReading } from "../opened-session.ts";
import type { ReadingOptions } from "../opened-session.ts";
import type { Output } from "../output.ts";
import { writeLine } from "../stored-line.ts";
import { entryLine } from "../text/entry-line.ts";

/** What `branchlog tail` was asked. */
export interface TailOptions extends ReadingOptions {
  readonly file: string;
  readonly json: boolean;
  /** Whether to go on with what comes. */
  readonly follow: boolean;
  /** The first revision, from 1; undefined: so many last ones. */
  readonly from: number | undefined;
  /** How many last ones; undefined: ten. */
  readonly last: number | undefined;
  /** Hidden messages, too. */
  readonly all: boolean;
}

const lastDefault = 10;

/** Runs the command. While it follows, only an interruption or a closed output ends it. */
export async function tailCommand(options: TailOptions, io: CommandIo): Promise<CommandResult> {
  const { session } = await openForReading(options.file, io, options);
  const { follow, last = lastDefault } = options;
  const from = options.from ?? Math.max(0, session.revision - last) + 1;
  const show = options.json ? showJson : showText;
  for await (const event of session.events({ from, live: follow, signal: io.signal })) {
    if (event.kind === "entry" && !options.all && isHidden(event)) continue;
    await show(event, session, io.out);
    // Whoever watches wants to see it now; what was there already may come in larger pieces.
    if (event.kind !== "entry" || event.revision >= session.revision) await io.out.flush();
  }
  return 0;
}

function isHidden({ entry }: Extract<EntryEvent, { kind: "entry" }>): boolean {
  return entry.type === "custom_message" && !entry.display;
}

async function showText(event: EntryEvent, _session: Session, out: Output): Promise<void> {
  switch (event.kind) {
    case "entry":
      return out.write(entryLine(event.entry, out));
    case "reset":
      return out.write(out.style.faint("— another file took its place; from its start —\n"));
    case "migrated":
      return undefined;
  }
}

/** An entry as it is stored, with its revision; what happens to the file, as what it is. */
async function showJson(event: EntryEvent, session: Session, out: Output): Promise<void> {
  if (event.kind !== "entry") return writeJsonLine(out, event);
  const { entry, revision } = event;
  for await (const line of session.lines({ from: revision })) {
    // The file may have become another one since the entry was read.
    if (line.id !== entry.id || line.revision !== revision) break;
    await out.writeData(`{"revision":${revision},"entry":`, "json");
    await writeLine(line, out);
    return out.writeData("}\n", "json");
  }
  return writeJsonLine(out, { revision, entry });
}
