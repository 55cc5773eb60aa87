/**
 * Maps a path of a session to the steps of the Agent Trajectory Interchange Format, version 1.8
 * (ATIF, RFC 0001 of Harbor): a step for each call of a model, with the results of its tools;
 * values without a field in the format are under `extra`. Pure.
 */
import type { SessionEntry } from "@branchlog/core";
import type { Usage } from "@branchlog/core/entries";
import type { JsonObject, JsonValue } from "@branchlog/streaming";
import {
  AnswerJoiner,
  countAt,
  isObject,
  listAt,
  noUsage,
  objectAt,
  stringAt,
  usageOf,
  usageOfBoth,
} from "@branchlog/core/rows";
import { toolUse } from "@branchlog/library/catalogs";

export const atifVersion = "ATIF-v1.8";

export interface AtifStep {
  readonly step_id: number;
  readonly source: "system" | "user" | "agent";
  readonly message: string | readonly AtifPart[];
  readonly timestamp?: string;
  readonly model_name?: string;
  readonly reasoning_effort?: string;
  readonly reasoning_content?: string;
  readonly tool_calls?: readonly AtifCall[];
  readonly observation?: { readonly results: readonly AtifResult[] };
  readonly metrics?: AtifMetrics;
  readonly llm_call_count?: number;
  /** Whether the step is also on the path to the last entry. */
  readonly is_copied_context?: true;
  readonly extra?: object;
}

export type AtifPart =
  | { readonly type: "text"; readonly text: string }
  | {
      readonly type: "image";
      readonly source: { readonly media_type: string; readonly path: string };
    };

interface AtifCall {
  readonly tool_call_id: string;
  readonly function_name: string;
  readonly arguments: object;
}

interface AtifResult {
  readonly source_call_id?: string;
  readonly content: string | readonly AtifPart[];
  readonly subagent_trajectory_ref?: readonly { readonly trajectory_id: string }[];
  readonly extra?: object;
}

interface AtifMetrics {
  /** Including cache reads and writes. */
  readonly prompt_tokens: number;
  readonly completion_tokens: number;
  readonly cached_tokens: number;
  readonly cost_usd?: number;
  readonly extra?: object;
}

type OpenStep = Omit<AtifStep, "step_id" | "observation" | "metrics">;

/** Takes the entries of a path, root first; steps come out when no more can belong to them. */
export class AtifSteps {
  readonly #answers = new AnswerJoiner();
  #count = 0;
  #open: OpenStep | undefined;
  #results: AtifResult[] = [];
  /** Of the open step. */
  #spent: Usage | undefined;
  /** Recorded before the answer that it is of. */
  #recorded: Usage | undefined;
  #effort: string | undefined;
  #total: Usage = noUsage;
  readonly #models = new Map<string, number>();
  readonly #subagentAsked: (prompt: string) => string | undefined;

  /** @param subagentAsked The trajectory of the subagent that got a prompt. */
  constructor(subagentAsked: (prompt: string) => string | undefined = () => undefined) {
    this.#subagentAsked = subagentAsked;
  }

  /** @param isCopied Whether the entry is also on the path to the last one. */
  take(entry: SessionEntry, isCopied: boolean): readonly AtifStep[] {
    return this.#answers.take(entry).flatMap((whole) => this.#entry(whole, isCopied));
  }

  end(isCopied: boolean): readonly AtifStep[] {
    const last = this.#answers.end().flatMap((whole) => this.#entry(whole, isCopied));
    const steps = [...last, ...this.#close()];
    // A trajectory has a step at least.
    return this.#count > 0
      ? steps
      : [...this.#begin({ source: "system", message: "" }), ...this.#close()];
  }

  /** The model that answered most; undefined: none did. */
  get model(): string | undefined {
    const [most] = [...this.#models].toSorted(([, one], [, other]) => other - one);
    return most?.[0];
  }

  get finalMetrics(): object {
    const { output, cacheRead, cost } = this.#total;
    const costs = cost.total > 0 ? { total_cost_usd: cost.total } : {};
    return {
      total_prompt_tokens: promptTokens(this.#total),
      total_completion_tokens: output,
      total_cached_tokens: cacheRead,
      ...costs,
      total_steps: this.#count,
    };
  }

  #entry(entry: SessionEntry, isCopied: boolean): readonly AtifStep[] {
    // Decoding boundary: fields of stored entries may be anything.
    const stored = entry as unknown as JsonObject;
    const timestamp = stringAt(stored, "timestamp");
    const begin = (step: OpenStep): readonly AtifStep[] => {
      const copied = isCopied ? ({ is_copied_context: true } as const) : {};
      const at = timestamp === undefined ? {} : { timestamp };
      return this.#begin({ ...step, ...at, ...copied });
    };
    switch (entry.type) {
      case "message":
        return this.#message(objectAt(stored, "message") ?? {}, begin);
      case "custom_message": {
        const extra = { custom_type: stringAt(stored, "customType") ?? "" };
        return begin({ source: "system", message: partsOf(stored["content"]), extra });
      }
      case "compaction":
      case "branch_summary": {
        this.#add(usageIn(stored));
        const isReplaced = entry.type === "compaction";
        const stated = isReplaced ? { tokens_before: countAt(stored, "tokensBefore") } : {};
        const boundary = isReplaced ? "replace" : "insert";
        const extra = { context_management: { type: entry.type, boundary, ...stated } };
        return begin({ source: "system", message: stringAt(stored, "summary") ?? "", extra });
      }
      case "thinking_level_change": {
        const level = stringAt(stored, "thinkingLevel");
        this.#effort = level === "off" ? undefined : level;
        return [];
      }
      case "usage":
        this.#record(usageIn(stored));
        return [];
      default:
        return [];
    }
  }

  #message(
    message: JsonObject,
    begin: (step: OpenStep) => readonly AtifStep[],
  ): readonly AtifStep[] {
    switch (stringAt(message, "role")) {
      case "user":
        return begin({ source: "user", message: partsOf(message["content"]) });
      case "assistant": {
        const before = begin(this.#answerOf(message));
        const model = stringAt(message, "model") ?? "";
        this.#models.set(model, (this.#models.get(model) ?? 0) + 1);
        const own = usageIn(message);
        this.#add(own);
        this.#spent = own ?? this.#recorded;
        this.#recorded = undefined;
        return before;
      }
      case "toolResult":
        return this.#result(message, begin);
      case "bashExecution": {
        const command = stringAt(message, "command") ?? "";
        const code = message["exitCode"];
        const exit_code = typeof code === "number" ? code : null;
        const extra = { user_command: { command, exit_code } };
        const before = begin({ source: "system", message: `The user ran: ${command}`, extra });
        this.#results.push({ content: stringAt(message, "output") ?? "" });
        return before;
      }
      default:
        return [];
    }
  }

  /** Among those of its call; else, as one without a call, in a step that is not the user's. */
  #result(
    message: JsonObject,
    begin: (step: OpenStep) => readonly AtifStep[],
  ): readonly AtifStep[] {
    this.#add(usageIn(message));
    const callId = stringAt(message, "toolCallId") ?? "";
    const calls = this.#open?.tool_calls ?? [];
    const call = calls.find(({ tool_call_id }) => tool_call_id === callId);
    const use = call === undefined ? undefined : toolUse(call.function_name, call.arguments);
    const subagent = use?.kind === "task" ? this.#subagentAsked(use.prompt) : undefined;
    const isOpen = this.#open !== undefined && this.#open.source !== "user";
    const before = isOpen ? [] : begin({ source: "system", message: "" });
    this.#results.push({
      ...(call === undefined ? {} : { source_call_id: callId }),
      content: partsOf(message["content"]),
      ...(subagent === undefined ? {} : { subagent_trajectory_ref: [{ trajectory_id: subagent }] }),
      ...(message["isError"] === true ? { extra: { is_error: true } } : {}),
    });
    return before;
  }

  #answerOf(message: JsonObject): OpenStep {
    const blocks = listAt(message, "content").filter(isObject);
    const textsOf = (type: string, key: string): string =>
      blocks
        .flatMap((block) => (block["type"] === type ? (stringAt(block, key) ?? []) : []))
        .join("\n\n");
    const calls = blocks.filter((block) => block["type"] === "toolCall").map(callOf);
    const reasoning = textsOf("thinking", "thinking");
    const stopReason = stringAt(message, "stopReason");
    const error = stringAt(message, "errorMessage");
    const extra = {
      ...(stopReason === undefined ? {} : { stop_reason: stopReason }),
      ...(error === undefined ? {} : { error }),
    };
    return {
      source: "agent",
      message: textsOf("text", "text"),
      model_name: stringAt(message, "model") ?? "",
      ...(this.#effort === undefined ? {} : { reasoning_effort: this.#effort }),
      ...(reasoning === "" ? {} : { reasoning_content: reasoning }),
      ...(calls.length === 0 ? {} : { tool_calls: calls }),
      llm_call_count: 1,
      extra,
    };
  }

  /** A request is recorded after its answer by some agents, before it by others. */
  #record(usage: Usage | undefined): void {
    this.#add(usage);
    const isWanted = this.#open?.source === "agent" && this.#spent === undefined;
    if (isWanted) this.#spent = usage;
    else this.#recorded = usage;
  }

  #add(usage: Usage | undefined): void {
    if (usage === undefined) return;
    const cost = this.#total.cost.total + usage.cost.total;
    const sum = usageOfBoth(this.#total, usage, (one, other) => one + other);
    this.#total = { ...sum, cost: { ...sum.cost, total: cost } };
  }

  #begin(step: OpenStep): readonly AtifStep[] {
    const before = this.#close();
    this.#open = step;
    return before;
  }

  #close(): readonly AtifStep[] {
    const open = this.#open;
    if (open === undefined) return [];
    this.#count += 1;
    const results = this.#results;
    const spent = this.#spent;
    [this.#open, this.#results, this.#spent] = [undefined, [], undefined];
    const { extra, ...rest } = open;
    const step = {
      step_id: this.#count,
      ...rest,
      ...(results.length === 0 ? {} : { observation: { results } }),
      ...(spent === undefined ? {} : { metrics: metricsOf(spent) }),
      ...(extra === undefined ? {} : { extra }),
    };
    return [step];
  }
}

/** Undefined: no entry has it. */
function usageIn(stored: JsonObject): Usage | undefined {
  const usage = objectAt(stored, "usage");
  const [input, output] = [countAt(usage, "input"), countAt(usage, "output")];
  const [read, written] = [countAt(usage, "cacheRead"), countAt(usage, "cacheWrite")];
  if (input + output + read + written === 0) return undefined;
  const known = usageOf(input, output, read, written);
  const total = objectAt(usage, "cost")?.["total"];
  return typeof total === "number" ? { ...known, cost: { ...known.cost, total } } : known;
}

function callOf(block: JsonObject): AtifCall {
  const [id, name] = [stringAt(block, "id") ?? "", stringAt(block, "name") ?? ""];
  return { tool_call_id: id, function_name: name, arguments: objectAt(block, "arguments") ?? {} };
}

function promptTokens({ input, cacheRead, cacheWrite }: Usage): number {
  return input + cacheRead + cacheWrite;
}

function metricsOf(usage: Usage): AtifMetrics {
  const { output, cacheRead, cacheWrite, cost } = usage;
  return {
    prompt_tokens: promptTokens(usage),
    completion_tokens: output,
    cached_tokens: cacheRead,
    ...(cost.total > 0 ? { cost_usd: cost.total } : {}),
    ...(cacheWrite > 0 ? { extra: { cache_write_tokens: cacheWrite } } : {}),
  };
}

/** A text alone is one; images have their data in their paths. */
function partsOf(content: JsonValue | undefined): string | readonly AtifPart[] {
  if (!Array.isArray(content)) return typeof content === "string" ? content : "";
  const parts = content.filter(isObject).flatMap((block): AtifPart[] => {
    const [text, data] = [stringAt(block, "text"), stringAt(block, "data")];
    if (text !== undefined) return [{ type: "text", text }];
    if (data === undefined) return [];
    const media_type = stringAt(block, "mimeType") ?? "image/png";
    const path = `data:${media_type};base64,${data}`;
    return [{ type: "image", source: { media_type, path } }];
  });
  const [first] = parts;
  if (first === undefined) return "";
  return parts.length === 1 && first.type === "text" ? first.text : parts;
}
