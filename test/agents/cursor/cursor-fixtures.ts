/** Databases of Cursor, written anew from what others report of them. */
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { databaseBytes, writeDatabase } from "../../support/database-file.ts";
import { fixturePath } from "../read-session.ts";

export const chatId = "5a1b2c3d-0000-4000-8000-000000000009";
/** Of files below a home directory. */
export const chatPlace = `.cursor/chats/d41d8cd98f00b204e9800998ecf8427e/${chatId}/store.db`;
export const editorPlace = ".config/Cursor/User/globalStorage/state.vscdb";
export const editorId = "6b1c2d3e-0000-4000-8000-0000000000a1";
export const editorChildId = "6b1c2d3e-0000-4000-8000-0000000000b2";

const editorDump = readFileSync(fixturePath("cursor/editor-2026-11.sql"), "utf8");

export function editorBytes(): Promise<Buffer> {
  return databaseBytes(editorDump);
}

/** A new database below a directory. */
export function editorIn(root: string, ...statements: readonly string[]): Promise<string> {
  return writeDatabase(join(root, editorPlace), editorDump, ...statements);
}

/** A field of a protocol buffer with bytes of less than 128, or 128 to 16,383. */
function field(number: number, value: Buffer): Buffer {
  const length =
    value.length < 128 ? [value.length] : [(value.length & 127) | 128, value.length >> 7];
  return Buffer.concat([Buffer.from([number * 8 + 2, ...length]), value]);
}

const insert = (id: string, data: Buffer): string =>
  `INSERT OR REPLACE INTO blobs VALUES ('${id}', x'${data.toString("hex")}');`;

const hashOf = (data: Buffer): string => createHash("sha256").update(data).digest("hex");

export interface ChatMeta {
  readonly name?: string;
  readonly subagentInfo?: object;
}

/** The statements that make a chat of messages. */
export function chatOf(messages: readonly (string | Buffer)[], meta: ChatMeta = {}): string[] {
  const blobs = messages.map((message) => Buffer.from(message));
  const ids = blobs.map((data) => Buffer.from(hashOf(data), "hex"));
  const workspace = field(9, Buffer.from("file:///home/dev/the%20shop"));
  // A number, and fields of eight and of four bytes, which are passed over.
  const others = Buffer.from([0x10, 0x96, 0x01, 0x19, 1, 2, 3, 4, 5, 6, 7, 8, 0x25, 1, 2, 3, 4]);
  const root = Buffer.concat([...ids.map((id) => field(1, id)), others, workspace]);
  const facts = {
    agentId: chatId,
    latestRootBlobId: hashOf(root),
    name: "Rates",
    createdAt: 1795165200000,
    lastUsedModel: "composer-2",
    blobEncryptionKey: "not-to-be-read",
    ...meta,
  };
  return [
    "CREATE TABLE IF NOT EXISTS blobs (id TEXT PRIMARY KEY, data BLOB);",
    "CREATE TABLE IF NOT EXISTS meta (key TEXT PRIMARY KEY, value TEXT);",
    ...blobs.map((data) => insert(hashOf(data), data)),
    insert(hashOf(root), root),
    `INSERT OR REPLACE INTO meta VALUES ('0', '${Buffer.from(JSON.stringify(facts)).toString("hex")}');`,
  ];
}

export const chatMessages: readonly string[] = readFileSync(
  fixturePath("cursor/chat-2026-09.jsonl"),
  "utf8",
)
  .trim()
  .split("\n");

export function chatBytes(): Promise<Buffer> {
  return databaseBytes(...chatOf(chatMessages));
}

/** A new chat below a directory. */
export function chatIn(root: string, ...statements: readonly string[]): Promise<string> {
  return writeDatabase(join(root, chatPlace), ...statements);
}
