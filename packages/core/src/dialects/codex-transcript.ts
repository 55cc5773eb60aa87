/**
 * Codex's rollouts in place. Items have no ids: an entry is known by its line, and is below the one
 * before it, or where a rollback went. See docs/formats.md, "In place". No I/O.
 */
import type { JsonObject } from "@branchlog/streaming";
import { answerKey } from "../entries/answers.ts";
import { normalizeName } from "../entries/identifiers.ts";
import { countAt, isObject, listAt, objectAt, stringAt } from "../entries/json-fields.ts";
import type { SessionHeader } from "../entries/entry-types.ts";
import type { AssistantContent } from "../entries/message-types.ts";
import {
  assistantBlocks,
  calledBy,
  codexUsage,
  contentOf,
  environmentCwd,
  isContext,
  isItemCopy,
  toolOutput,
} from "./codex-items.ts";
import { codexRecord } from "./codex-record.ts";
import { noUsage, textsOf } from "./foreign-content.ts";
import { currentVersion } from "./header.ts";
import { timeText, transcriptId } from "./transcript.ts";
import type { Transcript, TranscriptPlace, TranscriptRow } from "./transcript.ts";

/** Internal state, and texts that are also written as items. */
const passedEvents: ReadonlySet<string> = new Set([
  "agent_reasoning",
  "agent_reasoning_raw_content",
  "agent_reasoning_section_break",
  "context_compacted",
  "task_complete",
  "task_started",
  "turn_aborted",
  "turn_complete",
  "turn_started",
]);

/** Bounds the calls that wait for their end. */
const recentMax = 512;

/** A value from a line on. */
interface Since<T> {
  readonly line: number;
  readonly value: T;
}

interface Body {
  readonly type: string;
  readonly [key: string]: unknown;
}

interface CodexPlace extends TranscriptPlace {
  readonly line: number;
}

type RowFacts = Omit<TranscriptRow, "id" | "parentId" | "timeMs">;

export class CodexTranscript implements Transcript {
  readonly kind = "codex";
  header: SessionHeader | undefined;
  isSubagent = false;
  repetition: string | undefined;
  #hasMeta = false;
  #ordinal = -1;
  name: string | undefined;
  tailId: string | null = null;
  readonly #fileName: string;
  #provider = "openai-codex";
  readonly #models: Since<string>[] = [];
  readonly #levels: Since<string>[] = [];
  /** Context tokens, for compactions. */
  readonly #contextTokens: Since<number>[] = [];
  /** The answer that the next block may belong to; over once its usage was written. */
  #answer: { isOver: boolean } | undefined;
  /** The lines where answers begin and end, by turns: an answer's id is that of its first line. */
  readonly #answerBounds: number[] = [];
  /** The parents of each turn, for rollbacks. */
  readonly #starts: (string | null)[] = [];
  readonly #calls = new Set<string>();
  /** Texts of the turn, by the event that repeats them. */
  #said = new Set<string>();
  #counted = "";
  #tokens = 0;
  /** Records before it, by their numbers and times, are a copy of another session's. */
  #ownSince: { readonly ordinal: number; readonly timeMs: number } = { ordinal: 0, timeMs: 0 };
  #isCopied = false;
  #timeMs = 0;
  #startMs: number | undefined;
  #line = 0;

  constructor(fileName: string) {
    this.#fileName = fileName;
  }

  add(record: JsonObject, line: number): readonly TranscriptRow[] {
    this.#line = line;
    const ordinal = record["ordinal"];
    const isRepeated = typeof ordinal === "number" && ordinal <= this.#ordinal;
    this.repetition = isRepeated ? `repeats the ordinal ${ordinal}` : undefined;
    if (typeof ordinal === "number") this.#ordinal = Math.max(ordinal, this.#ordinal);
    const timeMs = Date.parse(stringAt(record, "timestamp") ?? "");
    if (!Number.isNaN(timeMs)) {
      this.#startMs ??= timeMs;
      this.#timeMs = timeMs;
    }
    const numbered = typeof ordinal === "number" && ordinal < this.#ownSince.ordinal;
    this.#isCopied = numbered || this.#timeMs < this.#ownSince.timeMs;
    const known = codexRecord(record);
    // Without its first record, a rollout is known by its name.
    if (known !== undefined) this.header ??= this.#headerOf({});
    const facts = known === undefined ? [] : this.#factsOf(known.type, known.payload);
    const rows: TranscriptRow[] = [];
    for (const [at, fact] of facts.entries()) {
      const id = at === facts.length - 1 ? lineId(line) : `${lineId(line)}#${at}`;
      rows.push({ id, parentId: this.tailId, timeMs: this.#timeMs, ...fact });
      this.tailId = id;
    }
    return rows;
  }

  entryOf(record: JsonObject, place: TranscriptPlace): JsonObject | undefined {
    const known = codexRecord(record);
    if (known === undefined) return undefined;
    const { id, parentId, timestamp } = place;
    const at = { ...place, line: Number.parseFloat(id.slice("line:".length)) };
    const { type, ...rest } = this.#bodyOf(known.type, known.payload, at);
    return { type, id, parentId, timestamp, ...rest };
  }

  #factsOf(type: string, payload: JsonObject): readonly RowFacts[] {
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
        this.#endAnswer();
        this.#contextTokens.push({ line: this.#line, value: this.#tokens });
        return [{ type: "compaction" }];
      case "state":
      case "world_state":
        return [];
      default:
        return [customRow(`codex.${type.slice(0, 40)}`)];
    }
  }

  #meta(payload: JsonObject): readonly RowFacts[] {
    if (this.#hasMeta) return [customRow("codex.session_meta")];
    this.#hasMeta = true;
    const provider = stringAt(payload, "model_provider") ?? "openai";
    this.#provider = provider === "openai" ? "openai-codex" : provider;
    this.isSubagent = callerOf(payload) !== undefined;
    const isFork = this.isSubagent || stringAt(payload, "forked_from_id") !== undefined;
    const startedMs = isFork ? Date.parse(stringAt(payload, "timestamp") ?? "") : Number.NaN;
    this.#ownSince = {
      ordinal: countAt(payload, "subagent_history_start_ordinal"),
      timeMs: startedMs || 0,
    };
    this.header = this.#headerOf(payload);
    return [];
  }

  #headerOf(meta: JsonObject): SessionHeader {
    const parentSession = callerOf(meta) ?? stringAt(meta, "forked_from_id");
    return {
      type: "session",
      version: currentVersion,
      id: transcriptId("codex", stringAt(meta, "id"), this.#fileName),
      timestamp: timeText(this.#startMs ?? this.#timeMs),
      cwd: stringAt(meta, "cwd") ?? this.header?.cwd ?? "",
      ...(parentSession === undefined ? {} : { parentSession }),
    };
  }

  #learnCwd(cwd: string | undefined): void {
    if (this.header?.cwd === "" && cwd !== undefined) this.header = { ...this.header, cwd };
  }

  #context(payload: JsonObject): readonly RowFacts[] {
    this.#learnCwd(stringAt(payload, "cwd"));
    const model = stringAt(payload, "model") ?? "";
    const level = levelOf(payload);
    const rows: RowFacts[] = [];
    if (model !== "" && model !== this.#models.at(-1)?.value) {
      this.#models.push({ line: this.#line, value: model });
      rows.push({ type: "model_change" });
    }
    if (level !== "" && level !== this.#levels.at(-1)?.value) {
      this.#levels.push({ line: this.#line, value: level });
      rows.push({ type: "thinking_level_change" });
    }
    if (rows.length > 0) this.#endAnswer();
    return rows;
  }

  #item(item: JsonObject): readonly RowFacts[] {
    const type = stringAt(item, "type") ?? "";
    if (type === "ghost_snapshot") return [];
    if (type === "message" && stringAt(item, "role") !== "assistant") return this.#heard(item);
    if (toolOutput(item) !== undefined) {
      this.#endAnswer();
      return [{ type: "message", role: "toolResult" }];
    }
    const called = calledBy(item);
    if (called !== undefined) {
      if (this.#calls.size >= recentMax) this.#calls.clear();
      this.#calls.add(called.id);
    } else if (type === "message") {
      const blocks = assistantBlocks(item);
      if (blocks === undefined) return [customRow("codex.item")];
      const text = textsOf(item["content"]).join("");
      if (blocks.length === 0 || this.#isRepeated("agent", text)) return [];
    } else if (type !== "reasoning") return [customRow("codex.item")];
    return [this.#answerRow()];
  }

  /** A message of the user, or of Codex as user, system or developer. */
  #heard(item: JsonObject): readonly RowFacts[] {
    const { content, rest } = contentOf(item["content"]);
    if (content.length === 0 && rest.length === 0) return [];
    const role = stringAt(item, "role") ?? "";
    if (role !== "user" || (rest.length === 0 && isContext(content))) {
      this.#endAnswer();
      this.#learnCwd(environmentCwd(item));
      return [{ type: "custom_message", customType: contextType(role) }];
    }
    const texts = textsOf(item["content"]);
    if (texts.length > 0 && this.#isRepeated("user", texts.join(""))) return [];
    this.#beginTurn();
    for (const text of texts) this.#said.add(keyOf("user", text));
    this.#said.add(keyOf("user", texts.join("")));
    return [{ type: "message", role: "user" }];
  }

  #event(event: JsonObject): readonly RowFacts[] {
    const type = stringAt(event, "type") ?? "";
    switch (type) {
      case "user_message":
        return this.#saidBy("user", stringAt(event, "message"));
      case "agent_message":
        return this.#saidBy("agent", stringAt(event, "message"));
      case "token_count":
        return this.#usage(objectAt(event, "info"));
      case "thread_name_updated":
        this.name = normalizeName(stringAt(event, "thread_name") ?? "") || this.name;
        return [];
      case "thread_rolled_back":
        this.#rollBack(countAt(event, "num_turns"));
        return [];
      default:
        break;
    }
    if (passedEvents.has(type) || isItemCopy(event)) return [];
    if (this.#calls.has(stringAt(event, "call_id") ?? "")) return [];
    this.#endAnswer();
    return [customRow("codex.event")];
  }

  /** An event whose text an item repeats. */
  #saidBy(voice: "user" | "agent", text: string | undefined): readonly RowFacts[] {
    if (text === undefined || text.trim() === "" || this.#isRepeated(voice, text)) return [];
    if (voice === "user") this.#beginTurn();
    this.#said.add(keyOf(voice, text));
    return [voice === "user" ? { type: "message", role: "user" } : this.#answerRow()];
  }

  /** Whether item or event has already given this text; each repetition counts once. */
  #isRepeated(voice: "user" | "agent", text: string): boolean {
    if (this.#said.delete(keyOf(voice, text))) return true;
    if (voice === "agent") this.#said.add(keyOf(voice, text));
    return false;
  }

  #usage(info: JsonObject | undefined): readonly RowFacts[] {
    const usage = codexUsage(info);
    const total = JSON.stringify(info?.["total_token_usage"] ?? null);
    if (usage === undefined || total === this.#counted) return [];
    this.#counted = total;
    const tokens = countAt(objectAt(info, "last_token_usage"), "total_tokens");
    this.#tokens = tokens || usage.totalTokens;
    // Spent by the session that it was copied from.
    if (this.#isCopied) return [];
    if (this.#answer !== undefined) this.#answer.isOver = true;
    return [{ type: "usage" }];
  }

  #rollBack(turns: number): void {
    this.#endAnswer();
    const first = Math.max(0, this.#starts.length - turns);
    const start = this.#starts[first];
    if (start === undefined) return;
    this.#starts.length = first;
    this.tailId = start;
  }

  #beginTurn(): void {
    this.#endAnswer();
    this.#said = new Set();
    this.#starts.push(this.tailId);
  }

  #answerRow(): RowFacts {
    if (this.#answer?.isOver === true) this.#endAnswer();
    if (this.#answer !== undefined) {
      return { type: "message", role: "assistant", customType: answerKey };
    }
    this.#answer = { isOver: false };
    this.#answerBounds.push(this.#line);
    return { type: "message", role: "assistant" };
  }

  #endAnswer(): void {
    if (this.#answer !== undefined) this.#answerBounds.push(this.#line);
    this.#answer = undefined;
  }

  #bodyOf(type: string, payload: JsonObject, place: CodexPlace): Body {
    switch (type) {
      case "turn_context":
        return this.#settingOf(payload, place);
      case "compacted":
        return this.#compactionOf(payload, place);
      case "response_item":
        return this.#bodyOfItem(payload, place);
      case "event_msg":
        return this.#bodyOfEvent(payload, place);
      default:
        return customBody(`codex.${type.slice(0, 40)}`, payload);
    }
  }

  #settingOf(payload: JsonObject, { id, line }: CodexPlace): Body {
    const isModel = valueAt(this.#models, line)?.line === line;
    const isOnly = valueAt(this.#levels, line)?.line !== line;
    if (isModel && (isOnly || id.endsWith("#0"))) {
      const modelId = stringAt(payload, "model") ?? "";
      return { type: "model_change", provider: this.#provider, modelId };
    }
    return { type: "thinking_level_change", thinkingLevel: levelOf(payload) };
  }

  /** Without a readable summary, the model continues from the kept messages. */
  #compactionOf(payload: JsonObject, { id, line }: CodexPlace): Body {
    const replacement = listAt(payload, "replacement_history");
    const kept = replacement.filter(isObject).flatMap((item) => textsOf(item["content"]));
    return {
      type: "compaction",
      summary: stringAt(payload, "message") || kept.join("\n\n"),
      // Its own id: nothing is kept.
      firstKeptEntryId: id,
      tokensBefore: valueAt(this.#contextTokens, line)?.value ?? 0,
      ...(replacement.length === 0 ? {} : { details: { replacement } }),
    };
  }

  #bodyOfItem(item: JsonObject, place: CodexPlace): Body {
    const output = toolOutput(item);
    const timestamp = Date.parse(place.timestamp);
    if (output !== undefined) {
      const { callId, content, isError } = output;
      const toolName = toolNameOf(callId, place);
      const result = { role: "toolResult", toolCallId: callId, toolName, content, isError };
      return { type: "message", message: { ...result, timestamp } };
    }
    const role = stringAt(item, "role");
    if (stringAt(item, "type") === "message" && role !== "assistant") {
      const { content, rest } = contentOf(item["content"]);
      if (role !== "user" || (rest.length === 0 && isContext(content))) {
        const customType = contextType(role ?? "");
        return { type: "custom_message", customType, content, display: false };
      }
      return { type: "message", message: { role: "user", content, timestamp } };
    }
    const blocks = assistantBlocks(item);
    if (blocks === undefined) return customBody("codex.item", item);
    return this.#answerBody(blocks, place);
  }

  #bodyOfEvent(event: JsonObject, place: CodexPlace): Body {
    const text = stringAt(event, "message") ?? "";
    const timestamp = Date.parse(place.timestamp);
    switch (stringAt(event, "type")) {
      case "user_message": {
        const content = [{ type: "text", text }];
        return { type: "message", message: { role: "user", content, timestamp } };
      }
      case "agent_message":
        return this.#answerBody([{ type: "text", text }], place);
      case "token_count": {
        const usage = codexUsage(objectAt(event, "info")) ?? noUsage;
        const model = this.#modelAt(place.line);
        const spent = { kind: "codex.response", provider: this.#provider, model, usage };
        return { type: "usage", ...spent, ...this.#partOf(place.line) };
      }
      default:
        return customBody("codex.event", event);
    }
  }

  #answerBody(content: readonly AssistantContent[], place: CodexPlace): Body {
    const { line, timestamp } = place;
    return {
      type: "message",
      message: {
        role: "assistant",
        content,
        api: "openai-codex-responses",
        provider: this.#provider,
        model: this.#modelAt(line),
        usage: noUsage,
        stopReason: content.some(({ type }) => type === "toolCall") ? "toolUse" : "stop",
        timestamp: Date.parse(timestamp),
      },
      ...this.#partOf(line),
    };
  }

  #partOf(line: number): object {
    const found = countUpTo(this.#answerBounds.length, (at) => this.#answerBounds[at], line);
    const isWithin = found % 2 === 1;
    return isWithin ? { [answerKey]: lineId(this.#answerBounds[found - 1] ?? 0) } : {};
  }

  #modelAt(line: number): string {
    return valueAt(this.#models, line)?.value ?? "unknown";
  }
}

/** The session that started this one as a sub-agent. */
function callerOf(meta: JsonObject): string | undefined {
  const spawned = objectAt(objectAt(objectAt(meta, "source"), "subagent"), "thread_spawn");
  return stringAt(spawned, "parent_thread_id");
}

function lineId(line: number): string {
  return `line:${line}`;
}

function keyOf(voice: string, text: string): string {
  return `${voice}\n${text.trim()}`;
}

function levelOf(payload: JsonObject): string {
  const effort = stringAt(payload, "effort") ?? "";
  return effort === "none" ? "off" : effort;
}

function contextType(role: string): string {
  return role === "user" ? "codex.context" : `codex.${role.slice(0, 40)}`;
}

function customRow(customType: string): RowFacts {
  return { type: "custom", customType };
}

function customBody(customType: string, data: JsonObject): Body {
  return { type: "custom", customType, data };
}

function toolNameOf(callId: string, place: CodexPlace): string {
  for (const record of place.above()) {
    const called = calledBy(codexRecord(record)?.payload ?? {});
    if (called?.id === callId) return called.name;
  }
  return "unknown";
}

/** The value in force at a line. O(log values). */
function valueAt<T>(values: readonly Since<T>[], line: number): Since<T> | undefined {
  return values[countUpTo(values.length, (at) => values[at]?.line, line) - 1];
}

/** How many of these lines, which ascend, are at most `line`. O(log count). */
function countUpTo(
  count: number,
  lineAt: (at: number) => number | undefined,
  line: number,
): number {
  let [low, high] = [0, count];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((lineAt(middle) ?? 0) <= line) low = middle + 1;
    else high = middle;
  }
  return low;
}
