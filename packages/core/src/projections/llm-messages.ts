/**
 * Messages of a context as sent to a model, in pi's wording, so that a session continued with
 * either engine reads the same to the model. Pure.
 */
import type {
  AgentMessage,
  AssistantMessage,
  BashExecutionMessage,
  SystemMessage,
  ToolResultMessage,
  UserMessage,
} from "../entries/message-types.ts";

/** A message as providers take it. */
export type LlmMessage = SystemMessage | UserMessage | AssistantMessage | ToolResultMessage;

/**
 * User, assistant, tool result and system messages by reference, in order. Shell commands,
 * extension messages and summaries become user messages; commands excluded from the context, and
 * unknown roles, are left out. Linear.
 */
export function convertToLlm(messages: readonly AgentMessage[]): LlmMessage[] {
  const converted: LlmMessage[] = [];
  for (const message of messages) {
    const llmMessage = convertMessage(message);
    if (llmMessage !== undefined) converted.push(llmMessage);
  }
  return converted;
}

function convertMessage(message: AgentMessage): LlmMessage | undefined {
  switch (message.role) {
    case "user":
    case "assistant":
    case "toolResult":
    case "system":
      return message;
    case "bashExecution":
      if (message.excludeFromContext) return undefined;
      return userText(bashExecutionText(message), message.timestamp);
    case "custom": {
      const { content, timestamp } = message;
      return typeof content === "string"
        ? userText(content, timestamp)
        : { role: "user", content, timestamp };
    }
    case "branchSummary":
      return userText(branchSummaryText(message.summary), message.timestamp);
    case "compactionSummary":
      return userText(compactionSummaryText(message.summary), message.timestamp);
    default:
      // An unknown role: stored messages are not checked.
      return undefined;
  }
}

function bashExecutionText(message: BashExecutionMessage): string {
  const { exitCode, cancelled, truncated, fullOutputPath } = message;
  const output = textOf(message.output);
  const shown = output === "" ? "(no output)" : `\`\`\`\n${output}\n\`\`\``;
  const parts = [`Ran \`${textOf(message.command)}\`\n${shown}`];
  if (cancelled) parts.push("(command cancelled)");
  else if (typeof exitCode === "number" && exitCode !== 0) {
    parts.push(`Command exited with code ${exitCode}`);
  }
  if (truncated && fullOutputPath) {
    parts.push(`[Output truncated. Full output: ${textOf(fullOutputPath)}]`);
  }
  return parts.join("\n\n");
}

function branchSummaryText(summary: string): string {
  const opening = "The following is a summary of a branch that this conversation came back from:";
  return `${opening}\n\n<summary>\n${textOf(summary)}</summary>`;
}

function compactionSummaryText(summary: string): string {
  const opening =
    "The conversation history before this point was compacted into the following summary:";
  return `${opening}\n\n<summary>\n${textOf(summary)}\n</summary>`;
}

/** Foreign files may hold other values. */
function textOf(stored: unknown): string {
  return typeof stored === "string" ? stored : "";
}

function userText(text: string, timestamp: number): UserMessage {
  return { role: "user", content: [{ type: "text", text }], timestamp };
}
