/** `session_context`: the messages that the model of a session would receive now. */
import { cursorOf, cursorValues, numberAt, textAt } from "./cursor.ts";
import { oneLine } from "../text/clean-text.ts";
import { nextPage } from "./page.ts";
import { messageSaid } from "./said-text.ts";
import { factsLine, factsOf } from "./session-facts.ts";
import type { SessionFacts } from "./session-facts.ts";
import { charactersDefault, moreText } from "./tool.ts";
import type { ToolAnswer, ToolCall, ToolSetting } from "./tool.ts";

export interface ContextArguments {
  readonly session: string;
  readonly full?: boolean | undefined;
  readonly max_characters?: number | undefined;
  readonly cursor?: string | undefined;
}

export interface ContextMessage {
  /** From 1 on. */
  readonly message: number;
  readonly continued?: true;
  readonly text: string;
}

export interface ContextAnswer {
  /** Without a cursor only. */
  readonly about?: SessionFacts;
  readonly model?: string;
  readonly thinking: string;
  readonly messages_total: number;
  /** The agent's own context is only partly known. */
  readonly approximate?: true;
  readonly messages: ContextMessage[];
  readonly next_cursor?: string;
}

export async function sessionContext(
  { session: word, cursor, ...given }: ContextArguments,
  { scope, reader }: ToolSetting,
  { signal }: ToolCall,
): Promise<ToolAnswer<ContextAnswer>> {
  const { max_characters: unitsMax = charactersDefault } = given;
  const listed = await scope.find(word, signal);
  return reader.read(listed, signal, async (opened) => {
    const { session } = opened;
    const owner = `context ${listed.path}`;
    const values = cursor === undefined ? undefined : cursorValues(owner, cursor);
    const at = values === undefined ? session.leaf : textAt(values, 0) || null;
    const first = values === undefined ? 0 : numberAt(values, 1);
    const isFull = values === undefined ? given.full === true : numberAt(values, 3) === 1;
    const context = await session.context({ at });
    const page = await nextPage(pieces(context.messages, first), {
      offset: values === undefined ? 0 : numberAt(values, 2),
      unitsMax,
    });
    async function* pieces(
      messages: readonly object[],
      from: number,
    ): AsyncGenerator<{ readonly key: string; readonly text: string }> {
      for (const [place, message] of messages.slice(from).entries()) {
        signal.throwIfAborted();
        const text = messageSaid(opened.message(message), isFull);
        if (text !== "") yield { key: String(from + place), text };
      }
    }
    const { next } = page;
    const after =
      next && cursorOf(owner, [at ?? "", Number(next.key), next.offset, isFull ? 1 : 0]);
    const { model, thinkingLevel, approximate, messages } = context;
    const data: ContextAnswer = {
      ...(cursor === undefined ? { about: factsOf(listed, opened.text) } : {}),
      ...(model === null ? {} : { model: oneLine(`${model.provider}/${model.modelId}`, 120) }),
      thinking: oneLine(thinkingLevel, 40),
      messages_total: messages.length,
      ...(approximate === true ? { approximate } : {}),
      messages: page.parts.map(({ piece, text, isContinued }) => ({
        message: Number(piece.key) + 1,
        ...(isContinued ? { continued: true as const } : {}),
        text,
      })),
      ...(after === undefined ? {} : { next_cursor: after }),
    };
    return { data, text: textOf(data) };
  });
}

function textOf(data: ContextAnswer): string {
  const { about, model = "no model", thinking, messages_total: total, messages } = data;
  const heading = about === undefined ? "" : `${factsLine(about)}\n`;
  const exactness = data.approximate === true ? ", approximate" : "";
  const shown = messages.map(({ message, continued, text }) => {
    const start = continued === true ? ", continued" : "";
    return `\n## Message ${message} of ${total}${start}\n${text}`;
  });
  const facts = `${model}, thinking ${thinking}, ${total} messages${exactness}\n`;
  return `${heading}${facts}${shown.join("")}${moreText(data.next_cursor)}`;
}
