/** Messages of this example. */
import type { EntryDraft, SessionEntry } from "branchlog";

export function user(content: string): EntryDraft {
  return { type: "message", message: { role: "user", content, timestamp: Date.now() } };
}

const none = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 };

/** Stands for the answer of a model. */
export function assistant(text: string): EntryDraft {
  return {
    type: "message",
    message: {
      role: "assistant",
      content: [{ type: "text", text }],
      api: "example",
      provider: "example",
      model: "parrot",
      usage: { ...none, totalTokens: 0, cost: { ...none, total: 0 } },
      stopReason: "stop",
      timestamp: Date.now(),
    },
  };
}

export function textOf(entry: SessionEntry | undefined): string {
  if (entry?.type !== "message" || !("content" in entry.message)) return "";
  const { content } = entry.message;
  if (typeof content === "string") return content;
  return content.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("\n");
}
