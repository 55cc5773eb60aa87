/** Short names for the builders of entries, as the tests of projections use them. */
import type { AgentMessage } from "@branchlog/core";

export {
  assistantEntry as assistant,
  assistantMessage,
  compactionEntry as compaction,
  contextEditEntry as contextEdit,
  messageEntry as message,
  sampleTime,
  sampleTimeMs,
  storedEntry as stored,
  usageOf,
  userEntry as user,
  userMessage,
} from "@branchlog/core/testing";

/** The text of each message of a context, whatever its role. */
export function textsOf(messages: readonly AgentMessage[]): string[] {
  return messages.map((one) => {
    if ("summary" in one) return one.summary;
    if (!("content" in one)) return one.command;
    if (typeof one.content === "string") return one.content;
    return one.content.map((block) => (block.type === "text" ? block.text : block.type)).join(" ");
  });
}
