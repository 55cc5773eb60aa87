/**
 * The events of Copilot CLI in place. Each has an id, and follows the one before it; those of a
 * subagent stand among the others, and are a branch below its call. See docs/formats.md, "Copilot
 * CLI". No I/O.
 */
import type { JsonObject } from "@branchlog/streaming";
import type { SessionHeader } from "@branchlog/core";
import {
  SavedFields,
  countAt,
  noUsage,
  objectAt,
  savedText,
  stringAt,
  usageOf,
  usageOfBoth,
} from "@branchlog/core/rows";
import type {
  AnswerUsage,
  SpentAnswer,
  Transcript,
  TranscriptPlace,
  TranscriptRow,
} from "@branchlog/core/rows";
import {
  entryAt,
  isRowOf,
  restoreState,
  rowsOf,
  savedState,
  sessionHeader,
  timeMsOf,
} from "../transcript-entries.ts";
import type { RowFacts } from "../transcript-entries.ts";
import { transcriptId } from "../transcript-id.ts";
import {
  agentOf,
  answerContent,
  copilotBody,
  customType,
  isCompacted,
  isEvent,
  isTyped,
  provider,
  recordedUsage,
  settingsIn,
  shutdownUsage,
} from "./copilot-bodies.ts";

/** Repeated elsewhere, or not about the conversation. */
const passedTypes: ReadonlySet<string> = new Set([
  "assistant.turn_end",
  "assistant.turn_start",
  "hook.end",
  "hook.start",
  "session.compaction_start",
  "session.resume",
  "session.start",
  "subagent.configured",
  "subagent.selected",
  "tool.execution_start",
]);

/** Bounds the number of active subagents. */
const agentsMax = 512;
/** The same of calls, and of requests whose answers are to come. */
const recentMax = 512;

export class CopilotTranscript implements Transcript {
  header: SessionHeader | undefined;
  /** In a file beside it. */
  name: string | undefined;
  isSubagent = false;
  tailId: string | null = null;
  repetition: string | undefined;
  readonly #fileName: string;
  readonly #isEntry: (id: string) => boolean;
  /** The last entries of subagents. */
  readonly #tails = new Map<string, string | null>();
  #lastId = "";
  timeMs = 0;
  #model = "";
  /** Whether this version records requests. */
  #hasRequests = false;
  /** Requests that were recorded of late: their answers come after them, among others. */
  readonly #requests = new Set<string>();
  /** Answers that also have tokens, which the record of their request has. */
  readonly #recorded = new Set<string>();
  /** The names of tools that were called of late, by the ids of calls. */
  readonly #tools = new Map<string, string>();
  /** Output tokens since the session was opened last, by models: requests have no record. */
  #outputs = new Map<string, number>();
  /** Data that only the end of a run has, by the ids of its entries. */
  readonly #sums = new Map<string, AnswerUsage>();

  constructor(fileName: string, isEntry: (id: string) => boolean) {
    this.#fileName = fileName;
    this.#isEntry = isEntry;
  }

  add(record: JsonObject): readonly TranscriptRow[] {
    const type = stringAt(record, "type") ?? "";
    const id = stringAt(record, "id") ?? "";
    const data = objectAt(record, "data") ?? {};
    this.repetition = undefined;
    // Data before the first event belongs to no session.
    if (id === "" || (this.header === undefined && !isEvent(record))) return [];
    if (id === this.#lastId || this.#isEntry(id)) {
      this.repetition = `repeats the id ${id}`;
      return [];
    }
    this.#lastId = id;
    this.timeMs = timeMsOf(record) ?? this.timeMs;
    if (type === "session.start") this.header ??= this.#headerOf(data);
    else this.header ??= this.#headerOf({});
    const agent = agentOf(record);
    if (type === "subagent.started") this.#beginAgent(agent);
    const facts = this.#factsOf(type, id, record);
    const rows = rowsOf(facts, { id, parentId: this.#tailOf(agent), timeMs: this.timeMs });
    if (rows.length === 0) return rows;
    if (agent === undefined) this.tailId = id;
    else this.#tails.set(agent, id);
    return rows;
  }

  save(): object {
    return {
      ...savedState(this),
      tails: [...this.#tails],
      lastId: this.#lastId,
      model: this.#model,
      hasRequests: this.#hasRequests,
      requests: [...this.#requests],
      recorded: [...this.#recorded],
      tools: [...this.#tools],
      outputs: [...this.#outputs],
      sums: [...this.#sums],
    };
  }

  restore(saved: SavedFields): void {
    restoreState(this, saved);
    for (const [agent, tail] of saved.pairs("tails", agentsMax, savedTail)) {
      this.#tails.set(agent, tail);
    }
    this.#lastId = saved.text("lastId");
    this.#model = saved.text("model");
    this.#hasRequests = saved.flag("hasRequests");
    for (const id of saved.list("requests", recentMax, savedText)) this.#requests.add(id);
    for (const id of saved.list("recorded", Infinity, savedText)) this.#recorded.add(id);
    for (const [id, name] of saved.pairs("tools", recentMax, savedText)) this.#tools.set(id, name);
    this.#outputs = new Map(saved.pairs("outputs", Infinity, savedCount));
    for (const [id, sum] of saved.pairs("sums", Infinity, savedSum)) this.#sums.set(id, sum);
  }

  spentBy(record: JsonObject, id: string): SpentAnswer {
    const data = objectAt(record, "data");
    const usage = this.#recorded.has(id) ? noUsage : outputUsage(data);
    return { provider, model: stringAt(data, "model") ?? this.#model, usage };
  }

  entryOf(record: JsonObject, place: TranscriptPlace): JsonObject | undefined {
    const { id } = place;
    if (!isRowOf(id, stringAt(record, "id"))) return undefined;
    const known = {
      sum: this.#sums.get(id),
      isRecorded: this.#recorded.has(id),
      toolOf: (callId: string) => this.#tools.get(callId),
    };
    return entryAt(place, copilotBody(record, place, known));
  }

  #headerOf(data: JsonObject): SessionHeader {
    const context = objectAt(data, "context");
    this.#model = stringAt(data, "selectedModel") ?? this.#model;
    const header = sessionHeader({
      id: transcriptId(stringAt(data, "sessionId"), this.#fileName),
      timeMs: this.timeMs,
      cwd: stringAt(context, "cwd") ?? "",
      parentSession: stringAt(data, "detachedFromSpawningParentSessionId"),
    });
    return { ...header, timestamp: stringAt(data, "startTime") ?? header.timestamp };
  }

  /** Below the call that starts it. */
  #beginAgent(agent: string | undefined): void {
    if (agent === undefined) return;
    if (this.#tails.size >= agentsMax) this.#tails.clear();
    this.#tails.set(agent, this.tailId);
  }

  #tailOf(agent: string | undefined): string | null {
    if (agent === undefined) return this.tailId;
    return this.#tails.get(agent) ?? this.tailId;
  }

  #factsOf(type: string, id: string, record: JsonObject): readonly RowFacts[] {
    const data = objectAt(record, "data") ?? {};
    switch (type) {
      case "user.message":
        if (isTyped(record)) return [{ type: "message", role: "user" }];
        return [{ type: "custom_message", customType: customType(record) }];
      case "assistant.message": {
        const model = stringAt(data, "model");
        if (model !== undefined) this.#model = model;
        const content = answerContent(data);
        if (content.length === 0) return [];
        for (const block of content) {
          if (block.type === "toolCall") this.#tools.set(block.id, block.name);
        }
        forgetOldest(this.#tools);
        this.#count(id, data);
        return [{ type: "message", role: "assistant" }];
      }
      case "tool.execution_complete": {
        const isShell = data["isUserRequested"] === true;
        return [{ type: "message", role: isShell ? "bashExecution" : "toolResult" }];
      }
      case "session.model_change":
        this.#model = stringAt(data, "newModel") ?? this.#model;
        return settingsIn(data).map((setting) => ({ type: setting }));
      case "session.usage_record":
        this.#hasRequests = true;
        if (recordedUsage(data).totalTokens === 0) return [];
        this.#requests.add(stringAt(objectAt(data, "usage"), "apiCallId") ?? "");
        forgetOldest(this.#requests);
        return [{ type: "usage" }];
      case "session.compaction_complete":
        if (!isCompacted(data)) return [{ type: "custom", customType: customType(record) }];
        return [{ type: "usage" }, { type: "compaction" }];
      case "session.shutdown":
        return this.#ended(id, data);
      default:
        if (passedTypes.has(type) || type.startsWith("model.")) return [];
        return [{ type: "custom", customType: customType(record) }];
    }
  }

  /** Older versions record the usage of requests when the program ends: only for this run. */
  #ended(id: string, data: JsonObject): readonly RowFacts[] {
    const counted = this.#outputs;
    this.#outputs = new Map();
    if (this.#hasRequests) return [];
    const sums = shutdownUsage(data).flatMap(({ model, usage }) => {
      const known = usageOf(0, counted.get(model) ?? 0, 0, 0);
      const rest = usageOfBoth(usage, known, (all, one) => Math.max(0, all - one));
      return rest.totalTokens === 0 ? [] : [{ model, usage: rest }];
    });
    for (const [at, sum] of sums.entries()) {
      this.#sums.set(at === sums.length - 1 ? id : `${id}#${at}`, sum);
    }
    return sums.map(() => ({ type: "usage" }));
  }

  /** Output tokens of an answer whose request has no record. */
  #count(id: string, data: JsonObject): void {
    const tokens = countAt(data, "outputTokens");
    if (tokens === 0) return;
    if (this.#requests.has(stringAt(data, "apiCallId") ?? "")) this.#recorded.add(id);
    else this.#outputs.set(this.#model, (this.#outputs.get(this.#model) ?? 0) + tokens);
  }
}

function forgetOldest(recent: Pick<Map<string, unknown>, "size" | "keys" | "delete">): void {
  for (const key of recent.keys()) {
    if (recent.size <= recentMax) return;
    recent.delete(key);
  }
}

function outputUsage(data: JsonObject | undefined): AnswerUsage["usage"] {
  return usageOf(0, countAt(data, "outputTokens"), 0, 0);
}

function savedTail(value: unknown): string | null {
  return new SavedFields({ value }).nullableText("value");
}

function savedCount(value: unknown): number {
  return new SavedFields({ value }).finite("value");
}

function savedSum(value: unknown): AnswerUsage {
  const saved = new SavedFields(value);
  const usage = saved.fields("usage");
  const [input, output] = [usage.finite("input"), usage.finite("output")];
  const [read, written] = [usage.finite("cacheRead"), usage.finite("cacheWrite")];
  return { model: saved.text("model"), usage: usageOf(input, output, read, written) };
}
