/**
 * Creates a session from a trajectory in ATIF (RFC 0001 of Harbor), any version 1: the steps on one
 * path, so that every command reads them and `branchlog export --to atif` restores them.
 */
import { openSync, readSync, closeSync } from "node:fs";
import { readFile, stat } from "node:fs/promises";
import { basename, extname, resolve } from "node:path";
import type { JsonObject, JsonValue } from "@branchlog/streaming";
import { BranchlogError } from "@branchlog/core";
import type { AnyDraft } from "@branchlog/core/entries";
import type { Ports } from "@branchlog/core/types";
import { newHeader } from "@branchlog/core/engine";
import { createLog, engineSettings, requireFree } from "@branchlog/core/files";
import {
  countAt,
  encodeDraft,
  encodeHeader,
  isObject,
  listAt,
  objectAt,
  spliceDraft,
  stringAt,
  usageOf,
} from "@branchlog/core/rows";

export interface TrajectoryImport {
  readonly kind: "atif";
  readonly path: string;
  /** Of the new session, and of the trajectory. */
  readonly id: string;
  readonly steps: number;
  readonly entries: number;
  /** Trajectories of subagents inside it, which are not imported. */
  readonly subagents: number;
}

/** No text of JavaScript is longer. */
const bytesMax = 500_000_000;
const recognisedBytes = 64 * 1024;

/** Whether a file starts like a trajectory; false if it cannot be read. */
export function isTrajectory(path: string): boolean {
  try {
    const start = Buffer.alloc(recognisedBytes);
    const file = openSync(path, "r");
    try {
      const text = start.toString("utf8", 0, readSync(file, start, 0, recognisedBytes, 0));
      // After a nested value it would be one of a call's arguments.
      return /^\uFEFF?\s*\{[^{}[\]]*"schema_version"\s*:\s*"ATIF-v1\./.test(text);
    } finally {
      closeSync(file);
    }
  } catch {
    return false;
  }
}

/**
 * Imports a trajectory into a new log of version 3, whole or not at all. It is held in memory.
 * @throws BranchlogError `ERR_NOT_A_SESSION` for a file that is not a trajectory, or of more than
 * 500 MB; `ERR_LOG_EXISTS`, `ERR_CREATE_FAILED`; what Node throws if it cannot be read.
 * @example
 * const { steps } = await importTrajectory("trajectory.json", "session.jsonl");
 */
export async function importTrajectory(
  source: string,
  target: string,
  options: { readonly ports?: Partial<Ports>; readonly signal?: AbortSignal } = {},
): Promise<TrajectoryImport> {
  const { ports } = engineSettings(options.ports === undefined ? {} : { ports: options.ports });
  const path = resolve(target);
  requireFree(ports, path);
  const { size } = await stat(source);
  if (size > bytesMax) throw notTrajectory(source, "it has more than 500 MB");
  const read = options.signal === undefined ? {} : { signal: options.signal };
  const root = rootIn(await readFile(source, { encoding: "utf8", ...read }), source);
  const steps = listAt(root, "steps").filter(isObject);
  const times = steps.map(timeOf).filter((time) => time !== undefined);
  const startMs = times[0] ?? ports.clock.now();
  const extra = objectAt(root, "extra");
  const given = stringAt(root, "session_id") ?? stringAt(root, "trajectory_id");
  const id = isSessionId(given) ? given : basename(source, extname(source));
  const header = newHeader(ports, stringAt(extra, "cwd") ?? "", isSessionId(id) ? { id } : {});
  const entries = new TrajectoryEntries(objectAt(root, "agent"), () => ports.ids.entryId());
  const name = stringAt(extra, "name");
  if (name !== undefined) entries.add({ type: "session_info", name }, startMs);
  let timeMs = startMs;
  for (const step of steps) {
    timeMs = timeOf(step) ?? timeMs;
    entries.addStep(step, timeMs);
  }
  const timestamp = new Date(startMs).toISOString();
  createLog(ports, path, [encodeHeader({ ...header, timestamp }), ...entries.lines]);
  return {
    kind: "atif",
    path,
    id: header.id,
    steps: steps.length,
    entries: entries.lines.length,
    subagents: listAt(root, "subagent_trajectories").length,
  };
}

function rootIn(text: string, path: string): JsonObject {
  let root: unknown;
  try {
    // Some editors begin a file with a byte-order mark.
    root = JSON.parse(text.replace(/^\uFEFF/, ""));
  } catch (cause) {
    throw notTrajectory(path, "it is not JSON", cause);
  }
  // Decoding boundary: its fields are read one by one.
  const value = root as JsonValue;
  if (!isObject(value) || !stringAt(value, "schema_version")?.startsWith("ATIF-v1.")) {
    throw notTrajectory(path, "its schema_version is not ATIF 1");
  }
  return value;
}

function notTrajectory(path: string, why: string, cause?: unknown): BranchlogError {
  const message = `${path} is not an ATIF trajectory: ${why}. Nothing was written.`;
  return new BranchlogError("ERR_NOT_A_SESSION", message, { path, cause });
}

function isSessionId(id: string | undefined): id is string {
  return id !== undefined && /^[\w.-]{1,200}$/.test(id);
}

function timeOf(step: JsonObject): number | undefined {
  const timeMs = Date.parse(stringAt(step, "timestamp") ?? "");
  return Number.isNaN(timeMs) ? undefined : timeMs;
}

/** Each entry is the parent of the next. */
class TrajectoryEntries {
  readonly lines: Buffer[] = [];
  readonly #agent: JsonObject | undefined;
  readonly #newId: () => string;
  #last: string | null = null;
  #effort: string | undefined;

  constructor(agent: JsonObject | undefined, newId: () => string) {
    this.#agent = agent;
    this.#newId = newId;
  }

  add(draft: AnyDraft, timeMs: number, id: string = this.#newId()): void {
    const encoded = encodeDraft(draft, new Date(timeMs).toISOString());
    this.lines.push(spliceDraft(encoded, id, this.#last));
    this.#last = id;
  }

  addStep(step: JsonObject, timeMs: number): void {
    switch (stringAt(step, "source")) {
      case "user":
        this.#message({ role: "user", content: contentOf(step["message"]) }, timeMs);
        break;
      case "agent":
        this.#answer(step, timeMs);
        break;
      default:
        this.#systemStep(step, timeMs);
    }
  }

  #message(message: object, timeMs: number): void {
    this.add({ type: "message", message: { ...message, timestamp: timeMs } }, timeMs);
  }

  #answer(step: JsonObject, timeMs: number): void {
    const effort = stringAt(step, "reasoning_effort");
    if (effort !== this.#effort) {
      this.#effort = effort;
      this.add({ type: "thinking_level_change", thinkingLevel: effort ?? "off" }, timeMs);
    }
    const reasoning = stringAt(step, "reasoning_content") ?? "";
    const calls = listAt(step, "tool_calls").filter(isObject);
    const said = contentOf(step["message"]);
    const text = typeof said === "string" && said !== "" ? [{ type: "text", text: said }] : [];
    const extra = objectAt(step, "extra");
    const error = stringAt(extra, "error");
    const stopReason = stringAt(extra, "stop_reason");
    this.#message(
      {
        role: "assistant",
        content: [
          ...(reasoning === "" ? [] : [{ type: "thinking", thinking: reasoning }]),
          ...(typeof said === "string" ? text : said),
          ...calls.map(callBlock),
        ],
        api: "unknown",
        provider: stringAt(this.#agent, "name") ?? "unknown",
        model: stringAt(step, "model_name") ?? stringAt(this.#agent, "model_name") ?? "unknown",
        usage: usageIn(objectAt(step, "metrics")),
        stopReason: stopReason ?? (calls.length > 0 ? "toolUse" : "stop"),
        ...(error === undefined ? {} : { errorMessage: error }),
      },
      timeMs,
    );
    this.#results(step, timeMs, calls);
  }

  #results(step: JsonObject, timeMs: number, calls: readonly JsonObject[]): void {
    for (const result of listAt(objectAt(step, "observation"), "results").filter(isObject)) {
      const toolCallId = stringAt(result, "source_call_id") ?? "";
      const call = calls.find((one) => stringAt(one, "tool_call_id") === toolCallId);
      const content = contentOf(result["content"]);
      this.#message(
        {
          role: "toolResult",
          toolCallId,
          toolName: stringAt(call, "function_name") ?? "unknown",
          content: typeof content === "string" ? [{ type: "text", text: content }] : content,
          isError: objectAt(result, "extra")?.["is_error"] === true,
        },
        timeMs,
      );
    }
  }

  #systemStep(step: JsonObject, timeMs: number): void {
    const extra = objectAt(step, "extra");
    const context = objectAt(extra, "context_management");
    const command = stringAt(objectAt(extra, "user_command"), "command");
    const content = contentOf(step["message"]);
    const summary = textOf(content);
    const type = stringAt(context, "type");
    if (type === "branch_summary") {
      this.add({ type, fromId: this.#last ?? "root", summary }, timeMs);
    } else if (context !== undefined && stringAt(context, "boundary") !== "insert") {
      // Nothing before it is kept: it is itself the first kept entry.
      const id = this.#newId();
      const tokensBefore = countAt(context, "tokens_before");
      this.add({ type: "compaction", summary, firstKeptEntryId: id, tokensBefore }, timeMs, id);
    } else if (command !== undefined) {
      this.#shellCommand(step, command, timeMs);
    } else {
      const isResult = content === "" && step["observation"] !== undefined;
      const customType = stringAt(extra, "custom_type") ?? "system";
      if (!isResult)
        this.add({ type: "custom_message", customType, content, display: true }, timeMs);
      this.#results(step, timeMs, []);
    }
  }

  #shellCommand(step: JsonObject, command: string, timeMs: number): void {
    const [result] = listAt(objectAt(step, "observation"), "results").filter(isObject);
    const output = contentOf(result?.["content"]);
    const exitCode = objectAt(objectAt(step, "extra"), "user_command")?.["exit_code"];
    this.#message(
      {
        role: "bashExecution",
        command,
        output: typeof output === "string" ? output : "",
        ...(typeof exitCode === "number" ? { exitCode } : {}),
        cancelled: false,
        truncated: false,
      },
      timeMs,
    );
  }
}

function callBlock(call: JsonObject): object {
  return {
    type: "toolCall",
    id: stringAt(call, "tool_call_id") ?? "",
    name: stringAt(call, "function_name") ?? "",
    arguments: objectAt(call, "arguments") ?? {},
  };
}

type Block =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "image"; readonly mimeType: string; readonly data: string };

function textOf(content: string | readonly Block[]): string {
  if (typeof content === "string") return content;
  return content.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n");
}

/** A part that is in another file is named. */
function contentOf(value: JsonValue | undefined): string | Block[] {
  if (!Array.isArray(value)) return typeof value === "string" ? value : "";
  return value.filter(isObject).map((part): Block => {
    const text = stringAt(part, "text");
    if (text !== undefined) return { type: "text", text };
    const path = stringAt(objectAt(part, "source"), "path") ?? "";
    const [, mimeType, data] = /^data:([\w.+/-]+);base64,(.*)$/s.exec(path) ?? [];
    if (mimeType !== undefined && data !== undefined) return { type: "image", mimeType, data };
    return { type: "text", text: `(${stringAt(part, "type") ?? "part"}: ${path})` };
  });
}

function usageIn(metrics: JsonObject | undefined): object {
  const cached = countAt(metrics, "cached_tokens");
  const written = countAt(objectAt(metrics, "extra"), "cache_write_tokens");
  const input = Math.max(0, countAt(metrics, "prompt_tokens") - cached - written);
  const usage = usageOf(input, countAt(metrics, "completion_tokens"), cached, written);
  const total = metrics?.["cost_usd"];
  return typeof total === "number" ? { ...usage, cost: { ...usage.cost, total } } : usage;
}
