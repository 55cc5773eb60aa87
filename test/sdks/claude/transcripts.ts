/** Entries as the Claude Agent SDK mirrors them, and the places that hold them. */
import { randomUUID } from "node:crypto";
import type { SessionStoreEntry } from "@anthropic-ai/claude-agent-sdk";
import type { ListingStore, StoredFacts } from "@branchlog/core/types";
import { MemoryLogStore } from "../../support/memory-log-store.ts";

export const sessionId = "0198c5a0-0000-4000-8000-000000000001";
export const key = { projectKey: "-work-app", sessionId } as const;

/** A prompt, and what it is answered, as records of Claude Code. */
export function turn(prompt: string, answer: string, parent: string | null): SessionStoreEntry[] {
  const [asked, said] = [randomUUID(), randomUUID()];
  const shared = { sessionId, cwd: "/work/app", version: "2.1.0", isSidechain: false };
  const timestamp = "2026-01-01T00:00:00.000Z";
  const content = [{ type: "text", text: answer }];
  const usage = { input_tokens: 10, output_tokens: 5 };
  const message = { id: `msg_${said}`, role: "assistant", model: "claude-x", content, usage };
  return [
    {
      type: "user",
      uuid: asked,
      parentUuid: parent,
      timestamp,
      ...shared,
      message: { role: "user", content: prompt },
    },
    { type: "assistant", uuid: said, parentUuid: asked, timestamp, ...shared, message },
  ];
}

/** A store in memory that is listed: a log changes when it grows. */
export class ListedMemoryStore extends MemoryLogStore implements ListingStore {
  async *list(): AsyncGenerator<StoredFacts> {
    for await (const name of this.names()) {
      const { at = 0 } = (await (await this.open(name)).end()) ?? {};
      const facts = { name, address: `memory:${name}`, sessionId: undefined, cwd: undefined };
      yield { ...facts, sizeBytes: at, changedAt: new Date(at) };
    }
  }
}
