/** `branchlog context`: the context of a model at the leaf, or at another entry. */
import type { PathContext } from "@branchlog/core";
import { entryId } from "../addressed-entry.ts";
import { shownNowMs } from "../command-io.ts";
import type { CommandIo, CommandResult, ReadingOptions } from "../command-io.ts";
import type { Output } from "../output.ts";
import { openForReading } from "../opened-session.ts";
import { contextHeading, messageText } from "../text/message-text.ts";
import type { MessageTextOptions } from "../text/message-text.ts";

export interface ContextOptions extends ReadingOptions {
  /** Default: the leaf. */
  readonly at: string | undefined;
  /** Undefined: all messages. */
  readonly last: number | undefined;
  readonly full: boolean;
}

export async function contextCommand(
  options: ContextOptions,
  io: CommandIo,
): Promise<CommandResult> {
  const { session } = await openForReading(options.file, io, options);
  const { at } = options;
  const context = await session.context(at === undefined ? {} : { at: entryId(at, session) });
  const last = options.last ?? context.messages.length;
  if (options.json) {
    await writeContextJson(context, last, io.out);
    return 0;
  }
  const shown = { isFull: options.full, style: io.out.style, nowMs: shownNowMs(io) };
  for (const text of contextTexts(context, { last, ...shown })) {
    io.signal.throwIfAborted();
    await io.out.write(text);
  }
  return 0;
}

/** The context as people read it: a heading, then message by message, each after an empty line. */
export function* contextTexts(
  context: PathContext,
  options: MessageTextOptions & { readonly last: number },
): Generator<string> {
  const { messages } = context;
  const first = firstShown(messages.length, options.last);
  const counts = { messages: messages.length, shown: messages.length - first };
  yield contextHeading(context, counts, options.style);
  for (let i = first; i < messages.length; i += 1) yield `\n${messageText(messages[i], options)}`;
}

/** Written in pieces: a context can be longer than the longest string. */
async function writeContextJson(context: PathContext, last: number, out: Output): Promise<void> {
  const { messages, ...settings } = context;
  const first = firstShown(messages.length, last);
  await out.writeData('{"messages":[', "json");
  for (let i = first; i < messages.length; i += 1) {
    await out.writeData(`${i === first ? "" : ","}${JSON.stringify(messages[i])}`, "json");
  }
  await out.writeData(`],${JSON.stringify(settings).slice(1)}\n`, "json");
}

function firstShown(count: number, last: number): number {
  return Math.max(0, count - last);
}
