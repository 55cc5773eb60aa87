/**
 * Random rollouts of Codex with what must become of them: turns with answers, tools and thoughts,
 * each said by an item, an event or both; rollbacks, compactions, damaged lines.
 */
import * as fc from "fast-check";
import type { ModelledSource } from "./arbitrary-claude.ts";

interface Step {
  readonly kind:
    | "turn"
    | "answer"
    | "think"
    | "tool"
    | "rollback"
    | "compaction"
    | "count"
    | "damage";
  readonly said: "item" | "event" | "item, event" | "event, item";
  readonly size: number;
}

/** Random rollouts. */
export const codexSource: fc.Arbitrary<ModelledSource> = fc
  .array(
    fc.record({
      kind: fc.constantFrom<Step["kind"]>(
        "turn",
        "turn",
        "answer",
        "think",
        "tool",
        "rollback",
        "compaction",
        "count",
        "damage",
      ),
      said: fc.constantFrom<Step["said"]>("item", "item, event", "event, item", "event"),
      size: fc.integer({ min: 1, max: 3 }),
    }),
    { maxLength: 25 },
  )
  .map((steps) => {
    const world = new CodexWorld();
    for (const step of steps) world.take(step);
    return world.source();
  });

class CodexWorld {
  readonly #lines: string[] = [];
  readonly #texts: string[] = [];
  #path: string[] = [];
  readonly #starts: number[] = [];
  #count = 0;

  constructor() {
    this.#record("session_meta", { id: "s", cwd: "/w" });
  }

  take({ kind, said, size }: Step): void {
    switch (kind) {
      case "turn":
        this.#starts.push(this.#path.length);
        return this.#say("user", said);
      case "answer":
        return this.#say("assistant", said);
      case "think":
        return this.#think(said);
      case "tool":
        return this.#tool();
      case "rollback":
        return this.#rollBack(size);
      case "compaction":
        return this.#record("compacted", { message: this.#text() });
      case "count":
        return this.#record("event_msg", { type: "token_count", info: { last_token_usage: {} } });
      case "damage":
        this.#lines.push(["", "{", "[]", "\u0000"][size] ?? "");
        return undefined;
    }
  }

  source(): ModelledSource {
    return { lines: this.#lines, texts: this.#texts, path: this.#path, beside: new Set() };
  }

  #say(role: "user" | "assistant", said: Step["said"]): void {
    const text = this.#text();
    const isUser = role === "user";
    const block = { type: isUser ? "input_text" : "output_text", text };
    const item = { type: "message", role, content: [block] };
    const event = { type: isUser ? "user_message" : "agent_message", message: text };
    this.#both(said, item, event);
  }

  #think(said: Step["said"]): void {
    const text = this.#text();
    const item = { type: "reasoning", summary: [{ type: "summary_text", text }] };
    this.#both(said, item, { type: "agent_reasoning", text });
  }

  /** What only an event says of an answer comes where its turn ends: users alone speak so here. */
  #both(said: Step["said"], item: object, event: object): void {
    const isAnswer = Reflect.get(event, "type") !== "user_message";
    for (const what of said === "event" && isAnswer ? ["item"] : said.split(", ")) {
      if (what === "item") this.#record("response_item", item);
      else this.#record("event_msg", event);
    }
  }

  #tool(): void {
    const call_id = `c${this.#next()}`;
    const args = JSON.stringify({ text: this.#text() });
    this.#record("response_item", { type: "function_call", name: "t", arguments: args, call_id });
    const output = this.#text();
    this.#record("response_item", { type: "function_call_output", call_id, output });
  }

  #rollBack(turns: number): void {
    this.#record("event_msg", { type: "thread_rolled_back", num_turns: turns });
    const first = Math.max(0, this.#starts.length - turns);
    const start = this.#starts[first];
    if (start === undefined) return;
    this.#starts.length = first;
    this.#path = this.#path.slice(0, start);
  }

  #record(type: string, payload: object): void {
    this.#lines.push(JSON.stringify({ type, payload }));
  }

  #text(): string {
    const text = `<${this.#next()}>`;
    this.#texts.push(text);
    this.#path.push(text);
    return text;
  }

  #next(): number {
    this.#count += 1;
    return this.#count;
  }
}
