/** Maps the records of a Codex rollout to entries, as docs/formats.md lists. No I/O. */
import type { JsonObject } from "@branchlog/streaming";
import { normalizeName } from "@branchlog/core/entries";
import {
  assistantBlocks,
  changedNumber,
  codexRecord,
  codexUsage,
  contentOf,
  countAt,
  custom,
  isContext,
  isItemCopy,
  isObject,
  listAt,
  objectAt,
  reasoningTexts,
  stringAt,
  textsOf,
  timeAt,
  toolOutput,
  toolResult,
  userMessage,
} from "@branchlog/core/internal";
import type { UserContent } from "@branchlog/core/internal";
import { CodexEvents, CodexLog } from "./codex-log.ts";
import type { Voice, CodexLine } from "./codex-log.ts";
import { changedText } from "./source-mapping.ts";
import type { LineOutcome, MappingSetting, SourceMapping, SourceRecord } from "./source-mapping.ts";

const statusEvents: ReadonlySet<string> = new Set([
  "agent_reasoning_raw_content",
  "agent_reasoning_section_break",
  "context_compacted",
  "task_complete",
  "task_started",
  "turn_aborted",
  "turn_complete",
  "turn_started",
]);

const everyVoice: readonly Voice[] = ["user", "agent", "reasoning"];

export class CodexMapping implements SourceMapping {
  readonly #setting: MappingSetting;
  readonly #log: CodexLog;
  readonly #events: CodexEvents;
  readonly #toolNames = new Map<string, string>();
  #at: CodexLine;
  #name = "";
  #counted = "";
  #contextTokens = 0;

  constructor(setting: MappingSetting) {
    this.#setting = setting;
    const provider = stringAt(setting.facts.meta, "model_provider") ?? "openai";
    this.#log = new CodexLog(setting, provider === "openai" ? "openai-codex" : provider);
    this.#events = new CodexEvents(setting.tally);
    this.#at = { line: 0, bytes: 0, time: setting.facts.started };
  }

  push({ value, line, bytes }: SourceRecord): LineOutcome {
    this.#at = { line, bytes, time: timeAt(value, "timestamp") ?? this.#at.time };
    const known = codexRecord(value);
    if (known === undefined) {
      return this.#setting.tally.reportUnknown(line, stringAt(value, "type") ?? "");
    }
    const { type, payload } = known;
    switch (type) {
      case "session_meta":
        return this.#meta(payload);
      case "turn_context":
        return this.#context(payload);
      case "response_item":
        return this.#item(payload);
      case "event_msg":
        return this.#event(payload);
      case "compacted":
        return this.#compacted(payload);
      case "state":
      case "world_state":
        return "bookkeeping";
      default:
        return this.#setting.tally.reportUnknown(line, type);
    }
  }

  end(): void {
    this.#release(everyVoice);
    this.#log.end(this.#at);
  }

  /** The first one is in the first entry; those of continued sessions follow it. */
  #meta(payload: JsonObject): LineOutcome {
    if (payload !== this.#setting.facts.meta) this.#custom("codex.session_meta", payload);
    return "imported";
  }

  #context(payload: JsonObject): LineOutcome {
    this.#release(everyVoice);
    const log = this.#log;
    const model = stringAt(payload, "model") ?? "";
    const effort = stringAt(payload, "effort") ?? "";
    const thinkingLevel = effort === "none" ? "off" : effort;
    const hasModel = model !== "" && model !== log.tail.model;
    const hasLevel = thinkingLevel !== "" && thinkingLevel !== log.tail.thinkingLevel;
    if (!hasModel && !hasLevel) return "unchanged-context";
    if (hasModel) {
      log.write({ type: "model_change", provider: log.provider, modelId: model }, this.#at);
    }
    if (hasLevel) log.write({ type: "thinking_level_change", thinkingLevel }, this.#at, 1);
    return "imported";
  }

  #item(item: JsonObject): LineOutcome {
    const type = stringAt(item, "type") ?? "";
    if (type === "message" && stringAt(item, "role") !== "assistant") return this.#heard(item);
    if (type === "ghost_snapshot") return "bookkeeping";
    this.#release(["user"]);
    const output = toolOutput(item);
    if (output !== undefined) {
      const { callId, rest } = output;
      const facts = { toolName: this.#toolNames.get(callId), time: this.#at.time };
      this.#log.write(toolResult(output, facts), this.#at);
      if (rest.length > 0) this.#custom("codex.blocks", { blocks: rest });
      return "imported";
    }
    const blocks = assistantBlocks(item);
    if (blocks === undefined) {
      this.#log.keep(item, this.#at);
      return "imported";
    }
    if (blocks.length === 0) return "no-content";
    this.#noteSaid(item);
    for (const block of blocks) {
      if (block.type !== "toolCall") continue;
      this.#toolNames.set(block.id, block.name);
      if ("rawArguments" in block) this.#reportChanged(block);
    }
    this.#log.answer(blocks, this.#at);
    return "imported";
  }

  #reportChanged({ rawArguments: text }: { readonly rawArguments?: unknown }): void {
    const number = typeof text === "string" ? changedNumber(text) : undefined;
    if (number === undefined) return;
    const message = `${changedText(number)}; the text of the call is in rawArguments`;
    this.#setting.tally.report({ kind: "changed-number", line: this.#at.line, message });
  }

  #noteSaid(item: JsonObject): void {
    const type = stringAt(item, "type");
    if (type === "reasoning") {
      for (const text of reasoningTexts(item)) this.#events.noteItem("reasoning", text);
    } else if (type === "message") {
      this.#events.noteItem("agent", textsOf(item["content"]).join(""));
    }
  }

  #heard(item: JsonObject): LineOutcome {
    const role = stringAt(item, "role") ?? "";
    const { content, rest } = contentOf(item["content"]);
    if (content.length === 0 && rest.length === 0) return "no-content";
    if (role !== "user" || (rest.length === 0 && isContext(content))) {
      this.#release(["user"]);
      const customType = role === "user" ? "codex.context" : `codex.${role.slice(0, 40)}`;
      if (content.length > 0) {
        const draft = { type: "custom_message", customType, content, display: false } as const;
        this.#log.write(draft, this.#at);
      }
    } else {
      this.#release(["agent", "reasoning"]);
      this.#events.begin();
      const texts = textsOf(item["content"]);
      for (const text of texts) this.#events.noteItem("user", text);
      if (texts.length > 1) this.#events.noteItem("user", texts.join(""));
      this.#release(["user"]);
      this.#beginTurn(content, this.#at);
    }
    if (rest.length > 0) this.#custom("codex.blocks", { blocks: rest });
    return "imported";
  }

  #beginTurn(content: UserContent[], at: CodexLine): void {
    this.#log.beginTurn();
    if (content.length === 0) return;
    this.#log.write(userMessage(content, at.time), at);
  }

  #event(event: JsonObject): LineOutcome {
    const type = stringAt(event, "type") ?? "";
    switch (type) {
      case "user_message":
        return this.#said("user", stringAt(event, "message"));
      case "agent_message":
        return this.#said("agent", stringAt(event, "message"));
      case "agent_reasoning":
        return this.#said("reasoning", stringAt(event, "text"));
      case "token_count":
        return this.#usage(objectAt(event, "info"));
      case "thread_name_updated":
        return this.#named(normalizeName(stringAt(event, "thread_name") ?? ""));
      case "thread_rolled_back":
        this.#release(everyVoice);
        return this.#log.rollBack(countAt(event, "num_turns")) ? "imported" : "status-event";
      default:
        break;
    }
    if (statusEvents.has(type)) {
      if (type !== "task_started" && type !== "turn_started") this.#release(everyVoice);
      return "status-event";
    }
    if (isItemCopy(event)) return "event-copy";
    // The end of a call whose result is an item, too.
    if (this.#toolNames.has(stringAt(event, "call_id") ?? "")) return "event-copy";
    this.#custom("codex.event", event);
    return "imported";
  }

  #said(voice: Voice, text: string | undefined): LineOutcome {
    if (text === undefined || text.trim() === "") return "no-content";
    if (this.#events.isFull) this.#release(everyVoice);
    const { time, line } = this.#at;
    return this.#events.noteEvent({ voice, text, time, line });
  }

  #usage(info: JsonObject | undefined): LineOutcome {
    const usage = codexUsage(info);
    const total = JSON.stringify(info?.["total_token_usage"] ?? null);
    if (usage === undefined || total === this.#counted) return "no-usage";
    this.#counted = total;
    const tokens = countAt(objectAt(info, "last_token_usage"), "total_tokens");
    this.#contextTokens = tokens || usage.totalTokens;
    this.#log.consumed(usage, this.#at);
    return "imported";
  }

  #named(name: string): LineOutcome {
    if (name === "" || name === this.#name) return "unused-title";
    this.#name = name;
    this.#log.write({ type: "session_info", name }, this.#at);
    return "imported";
  }

  /** Without a readable summary, the model continues from the kept messages. */
  #compacted(payload: JsonObject): LineOutcome {
    this.#release(everyVoice);
    const replacement = listAt(payload, "replacement_history");
    const kept = replacement.filter(isObject).flatMap((item) => textsOf(item["content"]));
    const summary = stringAt(payload, "message") || kept.join("\n\n");
    const tokensBefore = this.#contextTokens;
    const details = replacement.length === 0 ? {} : { details: { replacement } };
    const compaction = {
      type: "compaction",
      summary,
      firstKeptEntryId: null,
      tokensBefore,
    } as const;
    this.#log.write({ ...compaction, ...details }, this.#at);
    return "imported";
  }

  #custom(customType: string, data: unknown): void {
    this.#log.write(custom(customType, data), this.#at, "kept");
  }

  /** Events that no item repeated become messages of their own. */
  #release(voices: readonly Voice[]): void {
    for (const { voice, text, time, line } of this.#events.release(voices)) {
      const at = { line, time, bytes: text.length };
      if (voice === "user") this.#beginTurn([{ type: "text", text }], at);
      else if (voice === "agent") this.#log.answer([{ type: "text", text }], at);
      else this.#log.answer([{ type: "thinking", thinking: text }], at);
      this.#setting.tally.settle("imported");
    }
  }
}
