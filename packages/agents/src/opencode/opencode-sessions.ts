/**
 * Reads sessions of opencode, of each of its three forms, and makes logs of them. A session is read
 * in one of them: a newer form has the rows that were copied from an older one, with their ids.
 */
import { existsSync, readFileSync, readdirSync, statSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { BranchlogError } from "@branchlog/core";
import { quietly } from "@branchlog/core/files";
import { fileOfAddress, isObject, objectAt, stringAt } from "@branchlog/core/rows";
import type { SessionInFile } from "@branchlog/core/rows";
import { readForeignDatabase } from "@branchlog/library/catalogs";
import type { QueryRows } from "@branchlog/library/catalogs";
import type { JsonObject, JsonValue } from "@branchlog/streaming";
import { databaseLister, jsonAt, noSessionError, tablesIn, textAt } from "../database-sessions.ts";
import type { Row } from "../database-sessions.ts";
import type { SessionRow } from "../log-lines.ts";
import { logOfSession } from "./opencode-entries.ts";
import type { StoredMessage, StoredSession } from "./opencode-entries.ts";
import { messageOfRow } from "./opencode-rows.ts";

/** As `DocumentFormat.sessionsIn`. */
export async function sessionsIn(path: string): Promise<readonly SessionInFile[] | undefined> {
  if (!path.endsWith(".json")) return listedIn(path);
  // ROOT/storage/session/PROJECT/ses_ID.json
  const database = join(dirname(dirname(dirname(dirname(path)))), "opencode.db");
  const moved = existsSync(database) ? await listedIn(database) : [];
  return moved.some(({ id }) => id === basename(path, ".json")) ? [] : undefined;
}

const listedIn = databaseLister((query) => {
  const rows = formsIn(query).map((form) => query(form.list));
  // Those of a newer form replace those of an older one.
  return new Map(rows.toReversed().flatMap((list) => list.map((row) => [row["id"], row]))).values();
}, rowOf);

/** As `DocumentFormat.toLog`. */
export async function opencodeLog(path: string): Promise<Buffer> {
  const { file, id } = fileOfAddress(path);
  if (file.endsWith(".json")) return logOfSession(sessionOfTree(file));
  const session = await readForeignDatabase(file, (query) => {
    for (const form of formsIn(query)) {
      const [row] = query(`SELECT * FROM ${form.table} WHERE id = ?`, id ?? "");
      const messages = row === undefined ? [] : form.read(query, id ?? "");
      // A session of the older form may be without messages.
      if (row !== undefined && (messages.length > 0 || form === partForm)) {
        return sessionOf(row, withoutRunning(messages));
      }
    }
    return undefined;
  });
  if (session !== undefined) return logOfSession(session);
  throw noSessionError("opencode", { file, id });
}

interface ChangedMessage extends StoredMessage {
  readonly changedMs: number;
}

/** An answer that was not changed for so long is one that was broken off. */
const runningMs = 60_000;

/**
 * An answer is changed with each part of it. It is left out until it has ended, so that a log only
 * grows as long as nothing is undone.
 */
function withoutRunning(messages: readonly ChangedMessage[]): readonly ChangedMessage[] {
  const last = messages.at(-1);
  if (last === undefined || !isObject(last.info)) return messages;
  const { info, changedMs } = last;
  const hasEnded = objectAt(info, "time")?.["completed"] !== undefined || "error" in info;
  const isRunning = stringAt(info, "role") === "assistant" && !hasEnded;
  return isRunning && Date.now() - changedMs < runningMs ? messages.slice(0, -1) : messages;
}

/** One of the forms in a database. */
interface Form {
  readonly table: string;
  readonly list: string;
  read(query: QueryRows, id: string): readonly ChangedMessage[];
}

const rowColumns = "s.id, s.parent_id, s.directory, s.title, s.time_created";

/** Parts are counted in an index, since a scan of their table would read all of it. */
const partForm: Form = {
  table: "session",
  list:
    `SELECT ${rowColumns}, max(s.time_updated, coalesce(m.changed, 0)) AS changed, ` +
    "coalesce(m.count, 0) + coalesce(p.count, 0) AS count, m.last FROM session s " +
    "LEFT JOIN (SELECT session_id, count(*) AS count, max(time_updated) AS changed, " +
    "max(time_created) AS last FROM message GROUP BY session_id) m ON m.session_id = s.id " +
    "LEFT JOIN (SELECT session_id, count(*) AS count FROM part GROUP BY session_id) p " +
    "ON p.session_id = s.id",
  read: (query, id) => {
    const parts = new Map<unknown, Row[]>();
    const ofSession = "time_updated, data FROM";
    // SQLite would sort copies of the rows, of which most are in order.
    for (const row of query(`SELECT id, message_id, ${ofSession} part WHERE session_id = ?`, id)) {
      const owned = parts.get(row["message_id"]) ?? [];
      parts.set(row["message_id"], owned);
      owned.push(row);
    }
    const inOrder = "WHERE session_id = ? ORDER BY time_created, id";
    const messages = query(`SELECT id, ${ofSession} message ${inOrder}`, id);
    return messages.map((row) => {
      const own = (parts.get(row["id"]) ?? []).sort(byId);
      const changes = [row, ...own].map((one) => Number(one["time_updated"]));
      return { info: decoded(row), parts: own.map(decoded), changedMs: Math.max(...changes) };
    });
  },
};

const messageForm: Form = {
  table: "session_v2",
  list:
    `SELECT ${rowColumns}, max(s.time_updated, m.changed) AS changed, m.count, m.last ` +
    "FROM session_v2 s JOIN (SELECT session_id, max(seq) AS count, max(time_updated) AS changed, " +
    "max(time_created) AS last FROM session_message GROUP BY session_id) m ON m.session_id = s.id",
  read: (query, id) => {
    const rows = query("SELECT * FROM session_message WHERE session_id = ? ORDER BY seq", id);
    return rows.map((row) => ({
      ...messageOfRow(row, decoded(row)),
      changedMs: Number(row["time_updated"]),
    }));
  },
};

function byId({ id: one }: Row, { id: other }: Row): number {
  if (one === other) return 0;
  return String(one) < String(other) ? -1 : 1;
}

/** The newest first. Fails for a database of another program. */
function formsIn(query: QueryRows): readonly Form[] {
  const tables = tablesIn(query);
  const newer = tables.has("session_v2") && tables.has("session_message") ? [messageForm] : [];
  const older = tables.has("message") || newer.length === 0 ? [partForm] : [];
  return [...newer, ...older];
}

/** The JSON of a row with its id; a value that is not an object is kept as a text. */
function decoded(row: Row): JsonValue {
  const value = jsonAt(row, "data");
  return isObject(value) ? { ...value, id: String(row["id"]) } : (textAt(row, "data") ?? "");
}

function sessionOf(row: Row, messages: readonly StoredMessage[]): StoredSession {
  return { ...rowOf(row), revert: objectIn(textAt(row, "revert")), messages };
}

function rowOf(row: Row): SessionRow {
  return {
    id: textAt(row, "id") ?? "",
    parentId: textAt(row, "parent_id"),
    directory: textAt(row, "directory") ?? "",
    name: nameOf(textAt(row, "title")),
    createdMs: Number(row["time_created"]),
  };
}

/** Titles of sessions that have none yet. */
const unnamed = /^\s*(?:New|Child) session - \d{4}-/;

function nameOf(title: string | undefined): string | undefined {
  return title === undefined || unnamed.test(title) ? undefined : title;
}

function objectIn(text: string | undefined): JsonObject | undefined {
  const value = decoded({ id: "", data: text ?? "" });
  return isObject(value) ? value : undefined;
}

/** In `storage`: `session/PROJECT/ID.json`, `message/ID/*.json`, `part/MESSAGE/*.json`. */
function sessionOfTree(path: string): StoredSession {
  const facts = fileValue(path);
  const id = isObject(facts) ? stringAt(facts, "id") : undefined;
  if (!isObject(facts) || id === undefined) {
    const message = `${path} is not a session of opencode, or partly written. It was not changed.`;
    throw new BranchlogError("ERR_DOCUMENT_DAMAGED", message, { path });
  }
  const storage = dirname(dirname(dirname(path)));
  const messages = filesIn(join(storage, "message", id)).map((file) => {
    const parts = filesIn(join(storage, "part", basename(file, ".json")));
    const changes = [file, ...parts.slice(-1)].map((one) => quietly(() => statSync(one).mtimeMs));
    const changedMs = Math.max(...changes.map((timeMs) => timeMs ?? 0));
    return { info: fileValue(file), parts: parts.map(fileValue), changedMs };
  });
  return {
    id,
    parentId: stringAt(facts, "parentID"),
    directory: stringAt(facts, "directory") ?? "",
    name: nameOf(stringAt(facts, "title")),
    createdMs: Number(objectAt(facts, "time")?.["created"]),
    revert: objectAt(facts, "revert"),
    messages: withoutRunning(messages),
  };
}

/** In the order of their ids, which is that of time. */
function filesIn(directory: string): readonly string[] {
  const names = quietly(() => readdirSync(directory)) ?? [];
  const documents = names.filter((name) => name.endsWith(".json"));
  return documents.toSorted().map((name) => join(directory, name));
}

function fileValue(path: string): JsonValue {
  const data = quietly(() => readFileSync(path, "utf8")) ?? "";
  return decoded({ id: basename(path, ".json"), data });
}
