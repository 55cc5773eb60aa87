/** The log of a Codex rollout: a chain, which a rollback continues at an earlier position. */
import type { JsonValue } from "@branchlog/streaming";
import type { AssistantMessage, KnownDraft, Usage } from "@branchlog/core/entries";
import { custom, noUsage } from "@branchlog/core/internal";
import type { AssistantContent } from "@branchlog/core/internal";
import { mergedBytesMax, waitingMax } from "./limits.ts";
import type { LineTally, MappingSetting } from "./source-mapping.ts";

export interface CodexLine {
  readonly line: number;
  readonly bytes: number;
  /** Its time, or that of the line before. */
  readonly time: string;
}

interface Position {
  readonly id: string;
  readonly model: string;
  readonly thinkingLevel: string | null;
}

interface PendingAnswer {
  readonly at: CodexLine;
  readonly content: AssistantContent[];
  readonly lines: number[];
  readonly rest: JsonValue[];
  usage: Usage;
  bytes: number;
  isOver: boolean;
}

export class CodexLog {
  readonly provider: string;
  readonly #setting: MappingSetting;
  readonly #starts: Position[] = [];
  #tail: Position;
  #pending: PendingAnswer | undefined;

  constructor(setting: MappingSetting, provider: string) {
    this.#setting = setting;
    this.provider = provider;
    this.#tail = { id: setting.rootId, model: "", thinkingLevel: "" };
  }

  /** With the settings in force there. */
  get tail(): Position {
    return this.#tail;
  }

  write(draft: KnownDraft, at: CodexLine, part: number | string = 0): void {
    this.flush();
    this.#add(draft, at, part);
  }

  beginTurn(): void {
    this.flush();
    this.#starts.push(this.#tail);
  }

  rollBack(turns: number): boolean {
    this.flush();
    const first = Math.max(0, this.#starts.length - turns);
    const start = this.#starts[first];
    if (start === undefined) return false;
    this.#starts.length = first;
    this.#tail = start;
    return true;
  }

  answer(content: readonly AssistantContent[], at: CodexLine): void {
    const pending = this.#answerAt(at);
    const isLast = (pending.lines.at(-1) ?? 0) <= at.line;
    let place = isLast ? -1 : pending.lines.findIndex((line) => line > at.line);
    if (place < 0) place = pending.lines.length;
    for (const block of content) {
      pending.content.splice(place, 0, block);
      pending.lines.splice(place, 0, at.line);
      place += 1;
    }
    pending.bytes += at.bytes;
  }

  /** Keeps an item without a form: after the answer that it is a part of, or alone. */
  keep(item: JsonValue, at: CodexLine): void {
    if (this.#pending === undefined) this.write(custom("codex.items", { items: [item] }), at);
    else this.#pending.rest.push(item);
  }

  consumed(usage: Usage, at: CodexLine): void {
    const pending = this.#pending;
    if (pending === undefined || pending.isOver || pending.content.length === 0) {
      const { provider } = this;
      const model = this.#modelName;
      this.write({ type: "usage", kind: "codex.response", provider, model, usage }, at);
      return;
    }
    pending.usage = usage;
    pending.isOver = true;
  }

  flush(): void {
    const pending = this.#pending;
    if (pending === undefined) return;
    this.#pending = undefined;
    const { at, content, rest } = pending;
    if (content.length > 0) this.#add({ type: "message", message: this.#message(pending) }, at, 0);
    if (rest.length > 0) this.#add(custom("codex.items", { items: rest }), at, "items");
  }

  end(at: CodexLine): void {
    this.flush();
    this.#setting.log.endAt(this.#tail.id, at);
  }

  get #modelName(): string {
    return this.#tail.model || "unknown";
  }

  #answerAt(at: CodexLine): PendingAnswer {
    const before = this.#pending;
    if (before !== undefined && (before.isOver || before.bytes > mergedBytesMax)) this.flush();
    this.#pending ??= {
      at,
      content: [],
      lines: [],
      rest: [],
      usage: noUsage,
      bytes: 0,
      isOver: false,
    };
    return this.#pending;
  }

  #message({ at, content, usage }: PendingAnswer): AssistantMessage {
    return {
      role: "assistant",
      content,
      api: "openai-codex-responses",
      provider: this.provider,
      model: this.#modelName,
      usage,
      stopReason: content.some(({ type }) => type === "toolCall") ? "toolUse" : "stop",
      timestamp: Date.parse(at.time),
    };
  }

  #add(draft: KnownDraft, { line, time }: CodexLine, part: number | string): void {
    const { id: parentId, model, thinkingLevel } = this.#tail;
    const id = this.#setting.log.add(draft, { parentId, time, seed: `line:${line}#${part}` });
    this.#tail = {
      id,
      model: draft.type === "model_change" ? draft.modelId : model,
      thinkingLevel: draft.type === "thinking_level_change" ? draft.thinkingLevel : thinkingLevel,
    };
  }
}

export type Voice = "user" | "agent" | "reasoning";

export interface WaitingEvent {
  readonly voice: Voice;
  readonly text: string;
  readonly time: string;
  readonly line: number;
}

/** Finds events that repeat an item of the same turn: Codex writes texts twice, in either order. */
export class CodexEvents {
  readonly #tally: LineTally;
  /** How often items had a text that no event repeated. */
  readonly #said = new Map<string, number>();
  #waiting: WaitingEvent[] = [];

  constructor(tally: LineTally) {
    this.#tally = tally;
  }

  begin(): void {
    this.#said.clear();
  }

  noteItem(voice: Voice, text: string): void {
    const key = keyOf(voice, text);
    const at = this.#waiting.findIndex((event) => keyOf(event.voice, event.text) === key);
    if (at < 0) {
      this.#said.set(key, (this.#said.get(key) ?? 0) + 1);
      return;
    }
    this.#waiting.splice(at, 1);
    this.#tally.settle("event-copy");
  }

  noteEvent(event: WaitingEvent): "event-copy" | "held" {
    const key = keyOf(event.voice, event.text);
    const count = this.#said.get(key) ?? 0;
    if (count === 0) {
      this.#waiting.push(event);
      return "held";
    }
    this.#said.set(key, count - 1);
    return "event-copy";
  }

  get isFull(): boolean {
    return this.#waiting.length >= waitingMax;
  }

  /** Removes and returns the waiting events of these voices, which are not copies. */
  release(voices: readonly Voice[]): WaitingEvent[] {
    const isReleased = ({ voice }: WaitingEvent): boolean => voices.includes(voice);
    const released = this.#waiting.filter(isReleased);
    if (released.length > 0) this.#waiting = this.#waiting.filter((event) => !isReleased(event));
    return released;
  }
}

function keyOf(voice: Voice, text: string): string {
  return `${voice}\n${text.trim()}`;
}
