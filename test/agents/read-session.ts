/** A golden file as it is read, for the tests of one agent. */
import { join } from "node:path";
import { openSession } from "@branchlog/core";
import type { SessionEntry, SessionHeader } from "@branchlog/core";
import { collected } from "../support/collected.ts";

const fixtures = join(import.meta.dirname, "../../fixtures");

export interface ReadSession {
  readonly header: SessionHeader;
  readonly name: string | undefined;
  readonly entries: readonly SessionEntry[];
  /** From the root to the leaf. */
  readonly path: readonly SessionEntry[];
  readonly tokens: StoredTokens;
}

export interface StoredTokens {
  /** With those of the cache. */
  readonly input: number;
  readonly output: number;
}

export function fixturePath(fixture: string): string {
  return join(fixtures, fixture);
}

export async function readSession(fixture: string): Promise<ReadSession> {
  const session = await openSession(fixturePath(fixture), { access: "read", checkpoint: "off" });
  try {
    const { total } = await session.usage;
    return {
      header: session.header,
      name: session.name,
      entries: await collected(session.entries()),
      path: await session.branch(),
      tokens: { input: total.input + total.cacheRead + total.cacheWrite, output: total.output },
    };
  } finally {
    await session.close();
  }
}

type MessageEntry = Extract<SessionEntry, { readonly type: "message" }>;

export function messagesOf(entries: readonly SessionEntry[], role: string): MessageEntry[] {
  return entries
    .filter((entry) => entry.type === "message")
    .filter(({ message }) => message.role === role);
}

/** The texts that users typed. */
export function promptsOf(entries: readonly SessionEntry[]): string[] {
  return messagesOf(entries, "user").map(({ message }) => {
    const content = "content" in message ? message.content : "";
    if (typeof content === "string") return content;
    return content.map((block) => (block.type === "text" ? block.text : "")).join("");
  });
}

/** The tools of results, in order. */
export function toolsOf(entries: readonly SessionEntry[]): string[] {
  return messagesOf(entries, "toolResult").map(({ message }) =>
    "toolName" in message ? message.toolName : "",
  );
}
