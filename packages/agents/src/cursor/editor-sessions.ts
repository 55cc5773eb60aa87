/**
 * Reads sessions of Cursor's editor in its database, and makes logs of them. The database also
 * holds tokens of its sign-in: of its table, only rows of sessions and of their bubbles are read,
 * by their keys, and it is never copied.
 */
import { dateMs, fileOfAddress, isObject } from "@branchlog/core/rows";
import { readForeignDatabase } from "@branchlog/library/catalogs";
import type { QueryRows } from "@branchlog/library/catalogs";
import type { JsonObject } from "@branchlog/streaming";
import { databaseLister, jsonAt, noSessionError, tablesIn } from "../database-sessions.ts";
import { textAt } from "../database-sessions.ts";
import type { DatabaseLister, Row } from "../database-sessions.ts";
import type { SessionRow } from "../log-lines.ts";
import { logOfSession } from "./editor-entries.ts";
import type { StoredBubble, StoredSession } from "./editor-entries.ts";

const secrets = { holdsSecrets: true };

/** Prefixes of keys; `;` follows `:`. */
const sessionKeys = ["composerData:", "composerData;"] as const;

/** Without the conversation. What is no JSON, and what has no bubbles, is no session. */
const sessionRows =
  "SELECT substr(key, 14) AS id, json_extract(text, '$.name') AS name, " +
  "json_extract(text, '$.createdAt') AS created, " +
  "json_extract(text, '$.subagentInfo.parentComposerId') AS parent, " +
  "coalesce(json_extract(text, '$.workspaceIdentifier.uri.fsPath'), " +
  "json_extract(text, '$.workspaceIdentifier.uri.path')) AS directory, " +
  "json_extract(text, '$.lastUpdatedAt') AS changed, " +
  "coalesce(json_extract(text, '$.lastUpdatedAt'), json_extract(text, '$.createdAt')) AS last, " +
  "max(coalesce(json_array_length(text, '$.fullConversationHeadersOnly'), 0), " +
  "coalesce(json_array_length(text, '$.conversation'), 0)) AS count " +
  "FROM (SELECT key, CAST(value AS TEXT) AS text FROM cursorDiskKV WHERE key >= ? AND key <= ?) " +
  "WHERE json_valid(text)";

/** As `DocumentFormat.sessionsIn`. No bubble is read. */
export const sessionsIn: DatabaseLister = databaseLister(
  (query) => {
    if (!isOfCursor(query)) return [];
    return query(sessionRows, ...sessionKeys).filter(({ count }) => Number(count) > 0);
  },
  rowOf,
  secrets,
);

/** The database of any editor that is built on VS Code has this name. */
function isOfCursor(query: QueryRows): boolean {
  return tablesIn(query).has("cursorDiskKV");
}

/** As `DocumentFormat.toLog`. */
export async function editorLog(path: string): Promise<Buffer> {
  const { file, id } = fileOfAddress(path);
  const session = await readForeignDatabase(file, (query) => sessionIn(query, id), secrets);
  if (session === undefined) throw noSessionError("Cursor", { file, id });
  return logOfSession(session);
}

function sessionIn(query: QueryRows, id: string | undefined): StoredSession | undefined {
  if (id === undefined || !isOfCursor(query)) return undefined;
  const key = `composerData:${id}`;
  const [row] = query(sessionRows, key, key);
  if (row === undefined) return undefined;
  const conversation =
    "SELECT json_extract(text, '$.fullConversationHeadersOnly') AS headers, " +
    "json_extract(text, '$.conversation') AS bubbles, " +
    "json_extract(text, '$.modelConfig.modelName') AS model, " +
    "json_extract(text, '$.generatingBubbleIds') AS running " +
    "FROM (SELECT CAST(value AS TEXT) AS text FROM cursorDiskKV WHERE key = ?)";
  const [said = {}] = query(conversation, key);
  const bubbles = bubblesOf(query, id, said);
  const running = new Set(listIn(said, "running"));
  const isRunning = Date.now() - Number(row["last"]) < runningMs;
  const at = isRunning ? bubbles.findIndex((bubble) => running.has(bubble.id)) : -1;
  const ended = at < 0 ? bubbles : bubbles.slice(0, at);
  return { ...rowOf(row), model: textAt(said, "model"), bubbles: ended };
}

/** A bubble that was not changed for so long is one that was broken off. */
const runningMs = 60_000;

/** In the order of the conversation, which has them itself in old sessions. */
function bubblesOf(query: QueryRows, id: string, said: Row): readonly StoredBubble[] {
  const headers = listIn(said, "headers").filter(isObject);
  if (headers.length === 0) {
    const inline = listIn(said, "bubbles").filter(isObject);
    return inline.map((value, number) => ({ id: idOf(value, number), value }));
  }
  const beginning = `bubbleId:${id}:`;
  const rows = query(
    "SELECT key, CAST(value AS TEXT) AS value FROM cursorDiskKV WHERE key >= ? AND key < ?",
    beginning,
    `bubbleId:${id};`,
  );
  const stored = new Map(rows.map((row) => [String(row["key"]).slice(beginning.length), row]));
  return headers.flatMap((header, number) => {
    const own = idOf(header, number);
    const row = stored.get(own);
    // Named again, it would be parsed again.
    stored.delete(own);
    return row === undefined ? [] : [{ id: own, value: jsonAt(row, "value") }];
  });
}

function idOf(value: JsonObject, number: number): string {
  const id = value["bubbleId"];
  return typeof id === "string" && id !== "" ? id : `bubble:${number}`;
}

function listIn(row: Row, key: string): readonly JsonObject[string][] {
  const value = jsonAt(row, key);
  return Array.isArray(value) ? value : [];
}

function rowOf(row: Row): SessionRow {
  return {
    id: textAt(row, "id") ?? "",
    parentId: textAt(row, "parent"),
    directory: textAt(row, "directory") ?? "",
    name: textAt(row, "name"),
    createdMs: dateMs(Number(row["created"])) ?? 0,
  };
}
