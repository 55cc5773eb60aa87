/** A golden file as it is read, for the tests of one agent. */
import { join } from "node:path";
import { openSession } from "@branchlog/core";
import type { Session, SessionEntry, SessionHeader } from "@branchlog/core";
import { findSessions } from "@branchlog/library";
import type { ListedSession } from "@branchlog/library";
import { collected } from "../support/collected.ts";
import { rejection, typedError } from "../support/typed-errors.ts";

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

/** The result of `work` on the session at a path or an address. */
export async function read<T>(path: string, work: (session: Session) => Promise<T>): Promise<T> {
  const session = await openSession(path, { access: "read", checkpoint: "off" });
  try {
    return await work(session);
  } finally {
    await session.close();
  }
}

export function entriesAt(path: string): Promise<SessionEntry[]> {
  return read(path, (session) => collected(session.entries()));
}

/** The code of the error of opening it. */
export async function codeOf(path: string): Promise<string> {
  return typedError(await rejection(openSession(path, { access: "read" }))).code;
}

/** With subagents; nothing is saved of it. */
export async function listedIn(...places: readonly string[]): Promise<readonly ListedSession[]> {
  const { sessions } = await findSessions(places, { artifacts: true, catalog: "off" });
  return sessions;
}

export function readSession(fixture: string): Promise<ReadSession> {
  return read(fixturePath(fixture), async (session) => {
    const { total } = await session.usage;
    return {
      header: session.header,
      name: session.name,
      entries: await collected(session.entries()),
      path: await session.branch(),
      tokens: { input: total.input + total.cacheRead + total.cacheWrite, output: total.output },
    };
  });
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
