/**
 * Transcripts of Qwen Code in place: a tree of records with `uuid` and `parentUuid`, whose content
 * is that of the GenAI API. See docs/agents.md, "Qwen Code". No I/O.
 */
import type { JsonObject } from "@branchlog/streaming";
import type { SessionHeader } from "@branchlog/core";
import { normalizeName } from "@branchlog/core/entries";
import type { Usage, UserContent } from "@branchlog/core/entries";
import { isObject, noUsage, objectAt, stringAt, usageOf } from "@branchlog/core/rows";
import { countAt, listAt } from "@branchlog/core/rows";
import type {
  SavedFields,
  SpentAnswer,
  Transcript,
  TranscriptPlace,
  TranscriptRow,
} from "@branchlog/core/rows";
import { answerBody, injectedBody, resultBody, spokenBody } from "../entry-bodies.ts";
import type { Body } from "../entry-bodies.ts";
import { answerBlocks, genaiUsage, outputsIn, partsOf, spokenBlocks } from "../genai-content.ts";
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

const provider = "qwen";

/** Records that repeat others, or outside the conversation. */
const passedSubtypes: ReadonlySet<string> = new Set([
  "attribution_snapshot",
  "custom_title",
  "file_history_snapshot",
  "slash_command",
]);

/** Bounds the records without an entry to which a session may go back. */
const recentMax = 65_536;

export class QwenTranscript implements Transcript {
  header: SessionHeader | undefined;
  name: string | undefined;
  isSubagent = false;
  tailId: string | null = null;
  repetition: string | undefined;
  readonly #fileName: string;
  readonly #isEntry: (id: string) => boolean;
  /** The replacement of a record without an entry. */
  readonly #stands = new Map<string, string | null>();
  timeMs = 0;
  /** Of recent records of requests, whether one of the session is among them and right above. */
  readonly #requests = new Map<string, boolean>();
  /** Whether the last answer has its usage in such a record. */
  #isRecorded = false;

  constructor(fileName: string, isEntry: (id: string) => boolean) {
    this.#fileName = fileName;
    this.#isEntry = isEntry;
  }

  add(record: JsonObject): readonly TranscriptRow[] {
    const id = stringAt(record, "uuid") ?? "";
    this.repetition = undefined;
    // Data before the first known record belongs to no session.
    if (id === "" || (this.header === undefined && !isQwenRecord(record))) return [];
    this.timeMs = timeMsOf(record) ?? this.timeMs;
    this.header ??= this.#headerOf(record);
    if (this.#isEntry(id) || this.#stands.has(id)) {
      this.repetition = `repeats the id ${id}`;
      return [];
    }
    const title = stringAt(objectAt(record, "systemPayload"), "customTitle");
    if (title !== undefined) this.name = normalizeName(title) || this.name;
    const parentId = this.#parentOf(record);
    const isBelow = this.#requests.get(parentId ?? "") ?? false;
    this.#isRecorded = isBelow;
    const facts = factsOf(record);
    if (facts.length === 0) remember(this.#stands, id, parentId);
    const response = responseIn(record);
    if (response !== undefined) remember(this.#requests, id, isBelow || isOwn(response));
    if (facts.length > 0) this.tailId = id;
    return rowsOf(facts, { id, parentId, timeMs: this.timeMs });
  }

  save(): object {
    return { ...savedState(this), stands: [...this.#stands], requests: [...this.#requests] };
  }

  restore(saved: SavedFields): void {
    restoreState(this, saved);
    for (const [id, stand] of saved.pairs("stands", recentMax, nullableText)) {
      this.#stands.set(id, stand);
    }
    for (const [id, isBelow] of saved.pairs("requests", recentMax, (value) => value === true)) {
      this.#requests.set(id, isBelow);
    }
  }

  spentBy(record: JsonObject): SpentAnswer {
    const model = stringAt(record, "model") ?? "";
    return { provider, model, usage: this.#isRecorded ? noUsage : answerUsage(record) };
  }

  entryOf(record: JsonObject, place: TranscriptPlace): JsonObject | undefined {
    if (!isRowOf(place.id, stringAt(record, "uuid"))) return undefined;
    return entryAt(place, bodyOf(record, place));
  }

  #headerOf(record: JsonObject): SessionHeader {
    const session = stringAt(record, "sessionId") ?? "";
    const agent = stringAt(record, "agentId");
    this.isSubagent = record["isSidechain"] === true && agent !== undefined;
    const id = this.isSubagent ? `${session}.${agent ?? ""}` : session;
    const origin = stringAt(objectAt(record, "forkedFrom"), "sessionId");
    return sessionHeader({
      id: transcriptId(id, this.#fileName),
      timeMs: this.timeMs,
      cwd: stringAt(record, "cwd") ?? "",
      parentSession: this.isSubagent ? session : origin,
    });
  }

  #parentOf(record: JsonObject): string | null {
    const parent = stringAt(record, "parentUuid");
    if (parent === undefined) return null;
    const stand = this.#stands.get(parent);
    return stand === undefined ? parent : stand;
  }
}

/** Whether a record is of Qwen Code, and of no other agent with the same envelope. */
export function isQwenRecord(record: JsonObject): boolean {
  const isLinked = typeof record["uuid"] === "string" && "parentUuid" in record;
  if (!isLinked || typeof record["sessionId"] !== "string") return false;
  if (stringAt(record, "type") === "system") return isObject(record["systemPayload"]);
  return Array.isArray(objectAt(record, "message")?.["parts"]);
}

function remember<Value>(recent: Map<string, Value>, id: string, value: Value): void {
  if (recent.size >= recentMax) {
    const [oldest] = recent.keys();
    if (oldest !== undefined) recent.delete(oldest);
  }
  recent.set(id, value);
}

function factsOf(record: JsonObject): readonly RowFacts[] {
  switch (stringAt(record, "type")) {
    case "user":
      if (isTyped(record)) return [{ type: "message", role: "user" }];
      return [{ type: "custom_message", customType: "qwen.injected" }];
    case "assistant":
      return answerOf(record).length === 0 ? [] : [{ type: "message", role: "assistant" }];
    case "tool_result":
      return resultsOf(record).map(() => ({ type: "message", role: "toolResult" }));
    default:
      return notedFacts(record);
  }
}

function notedFacts(record: JsonObject): readonly RowFacts[] {
  const subtype = stringAt(record, "subtype") ?? "";
  if (passedSubtypes.has(subtype)) return [];
  if (subtype === "chat_compression") return [{ type: "compaction" }];
  if (subtype !== "ui_telemetry") return [{ type: "custom", customType: noteType(record) }];
  return responseIn(record) === undefined ? [] : [{ type: "usage" }];
}

function nullableText(value: unknown): string | null {
  return typeof value === "string" ? value : null;
}

/** Others are notices, and reminders of the agent. */
function isTyped(record: JsonObject): boolean {
  const isNotice = stringAt(record, "subtype") !== undefined;
  return (
    !isNotice && typedBlocks(record).some((block) => block.type !== "text" || block.text !== "")
  );
}

const reminder = /<system-reminder>[^]*?<\/system-reminder>\s*/gu;

/** Without the reminders of the agent for the model. */
function typedBlocks(record: JsonObject): UserContent[] {
  return spokenBlocks(objectAt(record, "message")?.["parts"]).flatMap((block): UserContent[] => {
    if (block.type !== "text" || !block.text.includes("<system-reminder>")) return [block];
    const text = block.text.replace(reminder, "");
    return text.trim() === "" ? [] : [{ ...block, text }];
  });
}

function answerOf(record: JsonObject): ReturnType<typeof answerBlocks> {
  return answerBlocks(objectAt(record, "message")?.["parts"]);
}

function resultsOf(record: JsonObject): ReturnType<typeof outputsIn> {
  return outputsIn(objectAt(record, "message")?.["parts"]);
}

/** Whether it is of the session, and of no subagent. */
function isOwn(response: JsonObject): boolean {
  return stringAt(response, "subagent_name") === undefined;
}

/** Of a record of a request. */
function responseIn(record: JsonObject): JsonObject | undefined {
  if (stringAt(record, "subtype") !== "ui_telemetry") return undefined;
  const event = objectAt(objectAt(record, "systemPayload"), "uiEvent");
  return stringAt(event, "event.name") === "qwen-code.api_response" ? event : undefined;
}

function noteType(record: JsonObject): string {
  const type = stringAt(record, "subtype") ?? stringAt(record, "type") ?? "";
  return `qwen.${type.slice(0, 60)}`;
}

function bodyOf(record: JsonObject, place: TranscriptPlace): Body {
  const timestamp = Date.parse(place.timestamp);
  const [, number] = /#(\d+)$/.exec(place.id) ?? [];
  switch (stringAt(record, "type")) {
    case "user": {
      if (isTyped(record)) return spokenBody(typedBlocks(record), timestamp);
      const content = spokenBlocks(objectAt(record, "message")?.["parts"]);
      return injectedBody("qwen.injected", content);
    }
    case "assistant":
      return answerBody(answerOf(record), {
        api: "openai-completions",
        provider,
        model: stringAt(record, "model") ?? "",
        usage: isRecordedAbove(place) ? noUsage : answerUsage(record),
        timestamp,
      });
    case "tool_result": {
      const results = resultsOf(record);
      const { callId, ...result } = results[Number(number ?? results.length - 1)] ?? {
        callId: "",
        toolName: "unknown",
        content: [],
        isError: false,
      };
      const ended = objectAt(record, "toolCallResult");
      const details = ended?.["resultDisplay"];
      const isError = result.isError || stringAt(ended, "status") === "error";
      return resultBody({ toolCallId: callId, ...result, details, isError }, timestamp);
    }
    default:
      return notedBody(record, place);
  }
}

function notedBody(record: JsonObject, { id }: TranscriptPlace): Body {
  const payload = objectAt(record, "systemPayload") ?? {};
  const response = responseIn(record);
  if (response !== undefined) {
    const read = countAt(response, "cached_content_token_count");
    const input = Math.max(0, countAt(response, "input_token_count") - read);
    const output = countAt(response, "output_token_count");
    const thoughts = countAt(response, "thoughts_token_count");
    const model = stringAt(response, "model") ?? "";
    const usage = usageOf(input, output + thoughts, read, 0);
    return { type: "usage", kind: "qwen.request", provider, model, usage };
  }
  if (stringAt(record, "subtype") !== "chat_compression") {
    return { type: "custom", customType: noteType(record), data: payload };
  }
  const [first] = listAt(payload, "compressedHistory");
  const texts = partsOf(objectAt({ first: first ?? null }, "first")?.["parts"]);
  const info = objectAt(payload, "info");
  return {
    type: "compaction",
    summary: texts.flatMap((part) => stringAt(part, "text") ?? []).join("\n\n"),
    // Its own id: nothing is kept.
    firstKeptEntryId: id,
    tokensBefore: countAt(info, "originalTokenCount"),
    details: payload,
  };
}

/** What a subagent requested is in records of its session. */
function answerUsage(record: JsonObject): Usage {
  return record["isSidechain"] === true ? noUsage : genaiUsage(objectAt(record, "usageMetadata"));
}

/** Whether a record of a request of the session is right above, perhaps after others. */
function isRecordedAbove({ above }: TranscriptPlace): boolean {
  for (const record of above()) {
    const response = responseIn(record);
    if (response === undefined) return false;
    if (isOwn(response)) return true;
  }
  return false;
}
