/**
 * The messages of a path in the two forms that hubs of datasets know: lines of the Session Traces
 * Format of Hugging Face, and the conversations of ShareGPT with calls and thoughts as tags. Pure.
 */
import type { SessionEntry } from "@branchlog/core";
import { entryParts, textOfParts } from "@branchlog/core/entries";
import type { EntryPart } from "@branchlog/core/entries";
import { AnswerJoiner } from "@branchlog/core/rows";

export interface DatasetMessage {
  readonly role: "system" | "user" | "assistant" | "tool";
  readonly content: string;
  readonly reasoningContent?: string;
  readonly toolCalls?: readonly DatasetCall[];
  readonly toolCallId?: string;
  /** Epoch milliseconds. */
  readonly timestamp?: number;
  readonly model?: string;
}

interface DatasetCall {
  readonly id: string;
  /** The arguments are JSON. */
  readonly function: { readonly name: string; readonly arguments: string };
}

/** Takes the entries of a path, root first; an answer that several entries hold is one message. */
export class DatasetMessages {
  readonly #answers = new AnswerJoiner();

  take(entry: SessionEntry): readonly DatasetMessage[] {
    return this.#answers.take(entry).flatMap(messagesOf);
  }

  end(): readonly DatasetMessage[] {
    return this.#answers.end().flatMap(messagesOf);
  }
}

function messagesOf(entry: SessionEntry): readonly DatasetMessage[] {
  const { speaker, parts } = entryParts(entry) ?? { parts: [] };
  const timeMs = Date.parse(entry.timestamp);
  const at = Number.isNaN(timeMs) ? {} : { timestamp: timeMs };
  switch (speaker?.role) {
    case "user":
      return [{ role: "user", content: shownText(parts), ...at }];
    case "assistant": {
      const calls = parts.flatMap((part) => (part.kind === "call" ? [callOf(part)] : []));
      const reasoning = textsOf(parts, "thinking");
      const { model } = speaker;
      return [
        {
          role: "assistant",
          content: shownText(parts),
          ...(reasoning === "" ? {} : { reasoningContent: reasoning }),
          ...(calls.length === 0 ? {} : { toolCalls: calls }),
          ...at,
          ...(model === undefined ? {} : { model }),
        },
      ];
    }
    case "toolResult":
      return [{ role: "tool", content: shownText(parts), toolCallId: speaker.callId ?? "", ...at }];
    case "compactionSummary":
    case "branchSummary":
    case "custom":
    case "bashExecution":
    case "system":
      return [{ role: "system", content: shownText(parts), ...at }];
    default:
      return [];
  }
}

function callOf({ id, tool = "", arguments: given }: Extract<EntryPart, { kind: "call" }>) {
  const text = typeof given === "string" ? given : JSON.stringify(given ?? {});
  return { id, function: { name: tool, arguments: text } };
}

function textsOf(parts: readonly EntryPart[], kind: "thinking" | "summary"): string {
  return parts.flatMap((part) => (part.kind === kind ? [part.text] : [])).join("\n\n");
}

/** Images are named, since neither form has a place for them. */
function shownText(parts: readonly EntryPart[]): string {
  const texts = parts.flatMap((part): readonly string[] => {
    switch (part.kind) {
      case "text":
      case "summary":
      case "error":
        return [part.text];
      case "shell":
        return [`$ ${part.command}\n${part.output}`];
      case "image":
        return [`(image: ${part.mimeType})`];
      default:
        return [];
    }
  });
  return texts.length === 0 ? textOfParts(parts, "\n") : texts.join("\n\n");
}

const speakers = { system: "system", user: "human", assistant: "gpt", tool: "tool" } as const;

/**
 * The turns as the members of a list in JSON. Consecutive messages of one speaker are one turn:
 * training expects alternating speakers. It is passed on piece by piece, as it may be long.
 */
export class ShareGptTurns {
  #speaker: string | undefined;

  take(message: DatasetMessage): string {
    const speaker = speakers[message.role];
    const before = this.#speaker;
    const value = JSON.stringify(shareGptText(message)).slice(1, -1);
    if (before === speaker) return `\\n\\n${value}`;
    this.#speaker = speaker;
    const separator = before === undefined ? "" : '"},';
    return `${separator}{"from":"${speaker}","value":"${value}`;
  }

  end(): string {
    return this.#speaker === undefined ? "" : '"}';
  }
}

function shareGptText({ role, content, reasoningContent, toolCalls = [] }: DatasetMessage): string {
  if (role === "tool") return `<tool_response>\n${content}\n</tool_response>`;
  const calls = toolCalls.map(({ function: { name, arguments: given } }) => {
    const quoted = JSON.stringify(name);
    return `<tool_call>\n{"name": ${quoted}, "arguments": ${given}}\n</tool_call>`;
  });
  const thought = reasoningContent === undefined ? [] : [`<think>\n${reasoningContent}\n</think>`];
  return [...thought, ...(content === "" ? [] : [content]), ...calls].join("\n");
}
