/** Maps messages of Gemini CLI to the bodies of entries. Pure. */
import type { AssistantContent, Usage } from "@branchlog/core/entries";
import type { JsonObject, JsonValue } from "@branchlog/streaming";
import {
  answerKey,
  continuedKey,
  countAt,
  isObject,
  listAt,
  noUsage,
  objectAt,
  stringAt,
  usageOf,
  usageOfBoth,
} from "@branchlog/core/rows";
import type { TranscriptPlace } from "@branchlog/core/rows";
import {
  answerBody,
  commandBody,
  injectedBody,
  resultBody,
  spokenBody,
  thinkingContent,
} from "../entry-bodies.ts";
import type { Body } from "../entry-bodies.ts";
import { answerBlocks, callBlocks, outputsIn, partsOf, spokenBlocks } from "../genai-content.ts";
import type { NamedOutput } from "../genai-content.ts";

/** Qwen Code before its 0.2 wrote the same messages, with a type of its own. */
export function providerOf(message: JsonObject): string {
  return stringAt(message, "type") === "qwen" ? "qwen" : "google";
}

/** Whether a record is one of Gemini CLI: of its notes, other programs write the like. */
export function isGeminiRecord(record: JsonObject): boolean {
  if ("uuid" in record) return false;
  if (typeof record["sessionId"] === "string") return typeof record["projectHash"] === "string";
  if (isObject(record["$set"]) || typeof record["$rewindTo"] === "string") return true;
  if (typeof record["id"] !== "string" || typeof record["timestamp"] !== "string") return false;
  const [part] = partsOf(record["content"]);
  const isSaid = Array.isArray(record["content"]) && part !== undefined;
  return stringAt(record, "type") === "gemini" || (stringAt(record, "type") === "user" && isSaid);
}

export type MessageKind = "typed" | "shell" | "context" | "results" | "answer" | "note" | "unknown";

export function kindOf(message: JsonObject): MessageKind {
  switch (stringAt(message, "type")) {
    case "gemini":
    case "qwen":
      return "answer";
    case "info":
    case "warning":
    case "error":
      return "note";
    case "user": {
      if (outputsIn(message["content"]).length > 0) return "results";
      const text = textIn(message);
      if (text.startsWith("<session_context>")) return "context";
      return shellForm.test(text) ? "shell" : "typed";
    }
    default:
      return "unknown";
  }
}

export function textIn(message: JsonObject): string {
  const texts = partsOf(message["content"]).flatMap((part) => stringAt(part, "text") ?? []);
  return texts.join("\n\n");
}

/** The text of Gemini CLI for a command that the user ran. */
const shellForm = new RegExp(
  "^I ran the following shell command:\\n```sh\\n([^]*?)\\n```\\n\\n" +
    "This produced the following result:\\n```\\n([^]*)\\n```\\s*$",
);

interface CallResult extends NamedOutput {
  /** Among the calls. */
  readonly at: number;
  readonly details: JsonValue | undefined;
}

interface Answer {
  readonly calls: readonly string[];
  /** Of calls that ended. */
  readonly results: readonly CallResult[];
}

/** The calls of an answer, and the known results. */
export function answerOf(message: JsonObject): Answer {
  const calls = toolCalls(message);
  return {
    calls: calls.map((call) => stringAt(call, "id") ?? ""),
    results: calls.flatMap((call, at): CallResult[] => {
      const callId = stringAt(call, "id") ?? "";
      // All results of a turn may be at each of its calls.
      const outputs = outputsIn(call["result"]);
      const output = outputs.find((one) => one.callId === callId) ?? outputs[0];
      if (output === undefined) return [];
      const isError = output.isError || stringAt(call, "status") === "error";
      const toolName = stringAt(call, "name") ?? output.toolName;
      return [{ ...output, callId, toolName, isError, at, details: call["resultDisplay"] }];
    }),
  };
}

function toolCalls(message: JsonObject): readonly JsonObject[] {
  return listAt(message, "toolCalls").filter(isObject);
}

/** Tokens read from the cache are among those of the input, thoughts are not in the output. */
export function usageIn(message: JsonObject): Usage {
  const tokens = objectAt(message, "tokens");
  const read = countAt(tokens, "cached");
  const input = Math.max(0, countAt(tokens, "input") + countAt(tokens, "tool") - read);
  return usageOf(input, countAt(tokens, "output") + countAt(tokens, "thoughts"), read, 0);
}

/** Undefined if the message has no entry of that id. */
export function geminiBody(message: JsonObject, place: TranscriptPlace): Body | undefined {
  const { id } = place;
  const timestamp = Date.parse(place.timestamp);
  const [, number] = /#(\d+)$/.exec(id) ?? [];
  if (id.startsWith("compressed:")) {
    const summary = textIn(message);
    // Its own id: nothing is kept.
    return { type: "compaction", summary, firstKeptEntryId: id, tokensBefore: 0 };
  }
  switch (kindOf(message)) {
    case "typed":
      return spokenBody(spokenBlocks(message["content"]), timestamp);
    case "shell":
      return commandIn(message, timestamp);
    case "context":
      return injectedBody("gemini.context", spokenBlocks(message["content"]));
    case "results": {
      const output = outputsIn(message["content"])[Number(number ?? 0)];
      return output && outputBody(output, timestamp);
    }
    case "answer": {
      if (number === undefined) return saidBody(message, place);
      const result = answerOf(message).results.find(({ at }) => at === Number(number));
      return result && outputBody(result, timestamp);
    }
    case "note":
      return {
        type: "custom",
        customType: "gemini.note",
        data: { type: message["type"], text: textIn(message) },
      };
    default:
      return undefined;
  }
}

function commandIn(message: JsonObject, timestamp: number): Body {
  const [, command = "", output = ""] = shellForm.exec(textIn(message)) ?? [];
  const [, code = "0"] = /^Command exited with code (\d+)\./.exec(output) ?? [];
  return commandBody({ command, output, exitCode: Number(code) }, timestamp);
}

function outputBody(
  output: NamedOutput & { readonly details?: JsonValue | undefined },
  timestamp: number,
): Body {
  const details = typeof output.details === "string" ? undefined : output.details;
  return resultBody({ ...output, toolCallId: output.callId, details }, timestamp);
}

/** What this record of an answer adds to those before it. */
function saidBody(message: JsonObject, place: TranscriptPlace): Body {
  const isUpdate = place.id.includes("@");
  const before = isUpdate ? recordsBefore(message, place) : [];
  const known = new Set(before.flatMap((record) => answerOf(record).calls));
  const calls = toolCalls(message)
    .filter((call) => !known.has(stringAt(call, "id") ?? ""))
    .flatMap((call) => callBlocks(call));
  const content: AssistantContent[] = isUpdate ? calls : [...saidIn(message), ...calls];
  const spentBefore = before.reduce(
    (sum, record) => usageOfBoth(sum, usageIn(record), Math.max),
    noUsage,
  );
  const usage = usageOfBoth(usageIn(message), spentBefore, (all, one) => Math.max(0, all - one));
  const answer = answerBody(content, {
    api: "google-generative-ai",
    provider: providerOf(message),
    model: stringAt(message, "model") ?? "",
    usage,
    stopReason: toolCalls(message).length > 0 ? "toolUse" : "stop",
    timestamp: Date.parse(place.timestamp),
  });
  const mark = { [answerKey]: stringAt(message, "id") ?? "" };
  return { ...answer, ...mark, ...(isUpdate ? { [continuedKey]: true } : {}) };
}

function saidIn(message: JsonObject): AssistantContent[] {
  const thoughts = listAt(message, "thoughts").filter(isObject);
  const thinking = thoughts.map((thought) => {
    const [subject = "", description = ""] = ["subject", "description"].map((key) =>
      stringAt(thought, key),
    );
    return subject === "" ? description : `**${subject}**\n${description}`;
  });
  const said = answerBlocks(message["content"]).filter(({ type }) => type !== "toolCall");
  return [...thinkingContent(thinking.join("\n\n")), ...said];
}

/** The states of an answer before an update, which stand together: others may follow them. */
function recordsBefore(message: JsonObject, { above }: TranscriptPlace): readonly JsonObject[] {
  const id = stringAt(message, "id") ?? "";
  const before: JsonObject[] = [];
  for (const record of above()) {
    const state = messageOf(record, id);
    if (state !== undefined) before.push(state);
    else if (before.length > 0) break;
  }
  return before;
}

/** The message of an entry: the record itself, or one of a list. */
export function messageOf(record: JsonObject, entryId: string): JsonObject | undefined {
  const id = entryId.replace(/^compressed:/, "");
  const messages = [record, ...listAt(objectAt(record, "$set") ?? {}, "messages").filter(isObject)];
  return messages.find((message) => {
    const own = stringAt(message, "id");
    if (own === undefined || !id.startsWith(own)) return false;
    return id.length === own.length || /^(?:@\d+)?(?:#\d+)?$/.test(id.slice(own.length));
  });
}
