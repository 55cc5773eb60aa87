/** The official client of MCP, connected to the tools within the test, and sessions for them. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { InMemoryTransport } from "@modelcontextprotocol/sdk/inMemory.js";
import type { RequestOptions } from "@modelcontextprotocol/sdk/shared/protocol.js";
import { createMcpServer } from "../../../packages/cli/src/mcp/mcp-server.ts";
import { SessionReader } from "../../../packages/cli/src/mcp/session-reader.ts";
import { SessionScope } from "../../../packages/cli/src/mcp/session-scope.ts";
import { fieldOf } from "../../../packages/cli/src/text/stored-field.ts";

export interface ToolResult {
  readonly isError: boolean;
  readonly text: string;
  readonly data: unknown;
}

export interface SettingOptions {
  readonly project?: string;
  readonly redacts?: boolean;
}

/** A client of a separate server. */
export async function mcpClient(
  places: readonly string[],
  { project, redacts = true }: SettingOptions = {},
): Promise<Client> {
  const scope = new SessionScope({ places, project });
  const reader = new SessionReader(scope, redacts);
  let ms = 0;
  const monotonicMs = (): number => (ms += 1000);
  const setting = { scope, reader, now: () => Date.UTC(2026, 0, 1), monotonicMs };
  const [own, other] = InMemoryTransport.createLinkedPair();
  await createMcpServer(setting, "1.2.3").connect(other);
  const client = new Client({ name: "test", version: "1" });
  await client.connect(own);
  return client;
}

/** The client checks structured results against the schema of the tool, once it has the list. */
export async function callTool(
  client: Client,
  name: string,
  given: Readonly<Record<string, unknown>>,
  options?: RequestOptions,
): Promise<ToolResult> {
  const result = await client.callTool({ name, arguments: given }, undefined, options);
  const [first] = listIn(result, "content");
  return {
    isError: result.isError === true,
    text: String(fieldOf(first, "text")),
    data: result.structuredContent,
  };
}

/** All answers, each from a server that knows nothing of those before. */
export async function everyPage(
  places: readonly string[],
  name: string,
  given: Readonly<Record<string, unknown>>,
): Promise<readonly ToolResult[]> {
  const pages: ToolResult[] = [];
  let cursor: unknown;
  do {
    const client = await mcpClient(places);
    const more = cursor === undefined ? given : { ...given, cursor };
    const page = await callTool(client, name, more);
    await client.close();
    pages.push(page);
    cursor = fieldOf(page.data, "next_cursor");
  } while (cursor !== undefined);
  return pages;
}

export function listIn(data: unknown, key: string): readonly unknown[] {
  const list: unknown = fieldOf(data, key);
  return Array.isArray(list) ? list : [];
}

export function texts(items: readonly unknown[], key: string): string[] {
  return items.map((item) => String(fieldOf(item, key)));
}

export const startMs: number = Date.parse("2025-06-03T09:00:00.000Z");

/** Entries in a row, as `e1`, `e2`, …, of messages or of other types. */
function chained(drafts: readonly object[], atMs: number = startMs): readonly object[] {
  return drafts.map((draft, place) => {
    const links = { id: `e${place + 1}`, parentId: place === 0 ? null : `e${place}` };
    const timestamp = new Date(atMs + place * 1000).toISOString();
    const message = { ...draft, timestamp: atMs + place };
    const body = "type" in draft ? draft : { type: "message", message };
    return { ...body, ...links, timestamp };
  });
}

export const asked = (content: string): object => ({ role: "user", content });

export const answered = (text: string): object => ({
  role: "assistant",
  content: [{ type: "text", text }],
});

export interface WrittenSession {
  readonly id: string;
  readonly cwd?: string;
  readonly drafts: readonly object[];
  readonly atMs?: number;
}

export function writeSession(
  directory: string,
  { id, cwd = "/work/app", drafts, atMs = startMs }: WrittenSession,
): string {
  const path = join(directory, `${id}.jsonl`);
  const timestamp = new Date(atMs).toISOString();
  const header = { type: "session", version: 3, id, timestamp, cwd };
  const lines = [header, ...chained(drafts, atMs)].map((line) => `${JSON.stringify(line)}\n`);
  writeFileSync(path, lines.join(""));
  return path;
}
