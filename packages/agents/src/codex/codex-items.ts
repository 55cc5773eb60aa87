/** Maps items of a Codex rollout to pi's content blocks; returns those without a form. Pure. */
import { usageOf } from "@branchlog/core/rows";
import type { JsonObject, JsonValue } from "@branchlog/streaming";
import { changedNumber } from "@branchlog/core/rows";
import { countAt, isObject, listAt, objectAt, stringAt } from "@branchlog/core/rows";
import type { Usage, AssistantContent, UserContent } from "@branchlog/core/entries";
import {
  isEmptyText,
  mappedContent,
  textBlock,
  textsOf,
  withoutEmptyText,
} from "../foreign-content.ts";
import type { MappedContent, ToolOutput } from "../foreign-content.ts";

export function assistantBlocks(item: JsonObject): AssistantContent[] | undefined {
  const type = stringAt(item, "type");
  if (type === "message") return spoken(item);
  if (type === "reasoning") return [reasoning(item)];
  const called = calledBy(item);
  return called && [{ type: "toolCall", ...called, ...givenArguments(item) }];
}

interface Called {
  readonly id: string;
  readonly name: string;
}

/** Items that call a tool; undefined: its name is in the item. */
const callTypes = new Map<string | undefined, string | undefined>([
  ["function_call", undefined],
  ["custom_tool_call", undefined],
  ["local_shell_call", "local_shell"],
  ["tool_search_call", "tool_search"],
]);

/** The tool that an item calls, without a look at the arguments. */
export function calledBy(item: JsonObject): Called | undefined {
  const type = stringAt(item, "type");
  if (!callTypes.has(type)) return undefined;
  const id = stringAt(item, "call_id") ?? stringAt(item, "id");
  const name = callTypes.get(type) ?? stringAt(item, "name");
  return id === undefined || name === undefined ? undefined : { id, name };
}

function givenArguments(item: JsonObject): CallArguments {
  switch (stringAt(item, "type")) {
    case "function_call":
      return argumentsOf(stringAt(item, "arguments") ?? "");
    case "custom_tool_call":
      return { arguments: { input: item["input"] ?? "" } };
    case "local_shell_call":
      return { arguments: objectAt(item, "action") ?? {} };
    default:
      return searchArguments(item["arguments"]);
  }
}

function spoken(item: JsonObject): AssistantContent[] | undefined {
  const { content, rest } = mappedContent([...listAt(item, "content")], textBlock);
  return rest.length > 0 ? undefined : content.filter((block) => !isEmptyText(block));
}

/** The signature is the whole item, as the API requires it. */
function reasoning(item: JsonObject): AssistantContent {
  return {
    type: "thinking",
    thinking: reasoningTexts(item).join("\n\n"),
    thinkingSignature: JSON.stringify(item),
  };
}

/** The summary, else the full text. */
function reasoningTexts(item: JsonObject): string[] {
  const summary = textsOf(item["summary"]);
  return summary.length > 0 ? summary : textsOf(item["content"]);
}

/** With the text, if parsing loses a part of it. */
interface CallArguments {
  readonly arguments: JsonObject;
  readonly rawArguments?: string;
}

/** JSON text, unless the model made an error. */
function argumentsOf(text: string): CallArguments {
  const parsed = parsedObject(text);
  if (parsed === undefined) return { arguments: text === "" ? {} : { input: text } };
  const isChanged = changedNumber(text) !== undefined;
  return { arguments: parsed, ...(isChanged ? { rawArguments: text } : {}) };
}

function searchArguments(value: JsonValue | undefined): CallArguments {
  if (isObject(value)) return { arguments: value };
  return typeof value === "string" ? argumentsOf(value) : { arguments: {} };
}

function parsedObject(text: string): JsonObject | undefined {
  try {
    // Decoding boundary: JSON.parse returns only JSON values.
    const value = JSON.parse(text) as JsonValue;
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

export function toolOutput(
  item: JsonObject,
): (ToolOutput & MappedContent<UserContent>) | undefined {
  const callId = stringAt(item, "call_id");
  if (callId === undefined) return undefined;
  switch (stringAt(item, "type")) {
    case "function_call_output":
    case "custom_tool_call_output":
      break;
    case "tool_search_output": {
      const text = JSON.stringify(item["tools"] ?? []);
      return { callId, content: [{ type: "text", text }], rest: [], isError: false };
    }
    default:
      return undefined;
  }
  const output = item["output"] ?? "";
  const isError = isObject(output) && output["success"] === false;
  return { callId, isError, ...contentOf(isObject(output) ? output["content"] : output) };
}

/** Text and inline images; returns other blocks. */
export function contentOf(content: JsonValue | undefined): MappedContent<UserContent> {
  return withoutEmptyText(mappedContent(content, contentBlock));
}

function contentBlock(block: JsonObject): UserContent | undefined {
  const text = textBlock(block);
  if (text !== undefined) return text;
  const url = stringAt(block, "image_url") ?? "";
  const match = /^data:([^;,]+);base64,/.exec(url.slice(0, 200));
  const mimeType = match?.[1];
  if (match === null || mimeType === undefined) return undefined;
  return { type: "image", data: url.slice(match[0].length), mimeType };
}

/** Texts that Codex itself sends as user messages. */
const contextOpenings: readonly string[] = [
  "<environment_context>",
  "<user_instructions>",
  "<INSTRUCTIONS>",
  "# AGENTS.md instructions",
  "<permissions instructions>",
  "<collaboration_mode>",
  "<skill",
  "<subagent_notification>",
  "<turn_aborted>",
  // Since 0.14x.
  "<multi_agent_mode>",
  "<apps_instructions>",
  "<recommended_plugins>",
  "<codex_internal_context",
  "<hook_prompt",
  "<user_action>",
  "<context_window",
  "<codex_delegation>",
  "<token_budget>",
  "<rollout_budget>",
  "<side_conversation>",
  "<startup_context>",
  "<realtime_",
  "<plugins_instructions>",
  "<skills_instructions>",
  "<user_verification_notice>",
];

/** Follows a context that an editor's extension puts before the typed text. */
const requestHeading = /^## My request for Codex:[ \t]*$/m;
const editorContext = /^\s*# Context from my IDE setup:/;

/** The part of a message before the typed text, and that text with the rest. */
export function splitRequest(
  content: readonly UserContent[],
): readonly [context: UserContent, request: readonly UserContent[]] | undefined {
  const [first, ...others] = content;
  if (first?.type !== "text" || !editorContext.test(first.text)) return undefined;
  const heading = requestHeading.exec(first.text);
  if (heading === null) return undefined;
  const end = heading.index + heading[0].length;
  const request = first.text.slice(end).trim();
  if (request === "") return undefined;
  const context = { type: "text", text: first.text.slice(0, end) } as const;
  return [context, [{ type: "text", text: request }, ...others]];
}

export interface ShellRun {
  readonly command: string;
  readonly output: string;
  readonly exitCode: number;
}

const shellForm = new RegExp(
  String.raw`^\s*<user_shell_command>\s*<command>\n?([^]*?)\n?</command>\s*` +
    String.raw`<result>\n?([^]*?)\n?</result>\s*</user_shell_command>\s*$`,
);
const shellResult = /^Exit code: (-?\d+)\n(?:Duration: [^\n]*\n)?Output:\n?/;

/** A command that a person ran in Codex; undefined for any other message. */
export function shellRun(content: readonly UserContent[]): ShellRun | undefined {
  const [block, ...others] = content;
  if (block?.type !== "text" || others.length > 0) return undefined;
  const [, command, result] = shellForm.exec(block.text) ?? [];
  if (command === undefined || result === undefined) return undefined;
  const [head = "", code = "0"] = shellResult.exec(result) ?? [];
  return { command, output: result.slice(head.length), exitCode: Number(code) };
}

export function isContext(content: readonly UserContent[]): boolean {
  const isOwn = (text: string): boolean =>
    contextOpenings.some((opening) => text.trimStart().startsWith(opening)) &&
    (!/^\s*</.test(text) || /<\/[\w -]+>\s*$/.test(text));
  return content.every((block) => block.type === "text" && isOwn(block.text));
}

/**
 * Of paginated rollouts, since 0.146: data that other records also have, except for example plans.
 */
const copiedItems: ReadonlySet<string> = new Set([
  "AgentMessage",
  "CommandExecution",
  "ContextCompaction",
  "FileChange",
  "HookPrompt",
  "ImageGeneration",
  "McpToolCall",
  "Reasoning",
  "UserMessage",
  "WebSearch",
]);

export function isCopiedItem(type: string): boolean {
  return copiedItems.has(type);
}

/** The working directory in a description of the environment; of two forms, the XML is newer. */
export function environmentCwd(item: JsonObject): string | undefined {
  const text = textsOf(item["content"]).find((one) => /^\s*<environment_context>/.test(one)) ?? "";
  const [, path = ""] = /(?:<cwd>|^Current working directory: )([^<\r\n]+)/m.exec(text) ?? [];
  return path.trim() || undefined;
}

export function codexUsage(info: JsonObject | undefined): Usage | undefined {
  const last = objectAt(info, "last_token_usage");
  if (last === undefined) return undefined;
  const [input, cached] = [countAt(last, "input_tokens"), countAt(last, "cached_input_tokens")];
  return usageOf(Math.max(0, input - cached), countAt(last, "output_tokens"), cached, 0);
}
