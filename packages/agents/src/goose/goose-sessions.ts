/** Reads sessions of goose in its database, and makes logs of them. */
import { readFileSync } from "node:fs";
import { basename } from "node:path";
import { fileOfAddress, isObject, objectAt, stringAt } from "@branchlog/core/rows";
import { readForeignDatabase } from "@branchlog/library/catalogs";
import type { QueryRows } from "@branchlog/library/catalogs";
import type { JsonValue } from "@branchlog/streaming";
import {
  databaseLister,
  jsonAt,
  noSessionError,
  tablesIn,
  textAt,
  timeMsAt,
} from "../database-sessions.ts";
import type { DatabaseLister, Row } from "../database-sessions.ts";
import { transcriptId } from "../transcript-id.ts";
import { logOfSession } from "./goose-entries.ts";
import type { StoredMessage, StoredSession } from "./goose-entries.ts";
import type { SessionRow } from "../log-lines.ts";
import type { LedgerRow, Spent } from "./goose-usage.ts";

/**
 * As `DocumentFormat.sessionsIn`, without sessions that have no message: goose creates one whenever
 * it starts. Rows are counted in indexes, since a scan of the messages would read all of them.
 */
export const sessionsIn: DatabaseLister = databaseLister((query) => {
  const tables = tablesIn(query);
  // Other programs name a database like this, too.
  if (!isOfGoose(tables)) return [];
  const hasLedger = tables.has("usage_ledger");
  const ledger =
    "LEFT JOIN (SELECT session_id, count(*) + max(id) AS count FROM usage_ledger " +
    "GROUP BY session_id) u ON u.session_id = s.id";
  const counts = `m.count + coalesce(s.accumulated_total_tokens, 0)`;
  return query(
    "SELECT s.*, 1000 * unixepoch(s.updated_at) AS changed, m.rows, " +
      `${counts} ${hasLedger ? "+ coalesce(u.count, 0) " : ""}AS count FROM sessions s ` +
      "JOIN (SELECT session_id, count(*) AS rows, count(*) + max(id) AS count FROM messages " +
      `GROUP BY session_id) m ON m.session_id = s.id ${hasLedger ? ledger : ""}`,
  );
}, rowOf);

function isOfGoose(tables: ReadonlySet<unknown>): boolean {
  return ["schema_version", "sessions", "messages"].every((table) => tables.has(table));
}

/** As `DocumentFormat.toLog`. */
export async function gooseLog(path: string): Promise<Buffer> {
  if (path.endsWith(".jsonl")) return logOfSession(sessionOfLines(path));
  const { file, id } = fileOfAddress(path);
  const session = await readForeignDatabase(file, (query) => sessionIn(query, id));
  if (session === undefined) throw noSessionError("goose", { file, id });
  return logOfSession(session);
}

function sessionIn(query: QueryRows, id: string | undefined): StoredSession | undefined {
  const tables = tablesIn(query);
  if (id === undefined || !isOfGoose(tables)) return undefined;
  const [row] = query("SELECT * FROM sessions WHERE id = ?", id);
  if (row === undefined) return undefined;
  const ledger = tables.has("usage_ledger")
    ? query("SELECT * FROM usage_ledger WHERE session_id = ? ORDER BY created_timestamp, id", id)
    : [];
  // The order in which goose reads them.
  const ordered = "ORDER BY created_timestamp, id";
  const messages = query(`SELECT * FROM messages WHERE session_id = ? ${ordered}`, id);
  return {
    ...rowOf(row),
    provider: textAt(row, "provider_name"),
    model: modelOf(jsonAt(row, "model_config_json")),
    accumulated: spentIn(row, "accumulated_"),
    ledger: ledger.map(ledgerRow),
    messages: messages.map(messageOf),
  };
}

function rowOf(row: Row): SessionRow {
  const isSubagent = textAt(row, "session_type") === "sub_agent";
  return {
    id: textAt(row, "id") ?? "",
    parentId: isSubagent ? textAt(row, "parent_session_id") : undefined,
    directory: textAt(row, "working_dir") ?? "",
    name: nameOf(row),
    createdMs: timeMsAt(row, "created_at"),
  };
}

/** The default names of sessions. */
const unnamed = /^(?:CLI Session|ACP Session|New Chat)$/;

function nameOf(row: Row): string | undefined {
  const name = textAt(row, "name") ?? textAt(row, "description") ?? "";
  return unnamed.test(name) && row["user_set_name"] !== 1 ? undefined : name;
}

function modelOf(config: JsonValue): string | undefined {
  return isObject(config) ? stringAt(config, "model_name") : undefined;
}

function spentIn(row: Row, beginning = ""): Spent {
  const count = (name: string): number => {
    const value = Number(row[`${beginning}${name}`]);
    return value > 0 && Number.isFinite(value) ? value : 0;
  };
  return {
    input: count("input_tokens"),
    output: count("output_tokens"),
    cacheRead: count("cache_read_tokens"),
    cacheWrite: count("cache_write_tokens"),
    cost: count("cost"),
  };
}

function ledgerRow(row: Row): LedgerRow {
  return {
    row: Number(row["id"]),
    createdMs: timeMsAt(row, "created_timestamp"),
    model: textAt(row, "model"),
    isCompaction: row["is_compaction"] === 1,
    isCarried: row["cost_source"] === "carried_forward",
    spent: spentIn(row),
  };
}

function messageOf(row: Row): StoredMessage {
  const metadata = jsonAt(row, "metadata_json");
  return {
    row: Number(row["id"]),
    id: textAt(row, "message_id"),
    role: textAt(row, "role") ?? "",
    createdMs: timeMsAt(row, "created_timestamp"),
    content: jsonAt(row, "content_json"),
    metadata: isObject(metadata) ? metadata : undefined,
  };
}

/** What is known of the session, then its messages. */
function sessionOfLines(path: string): StoredSession {
  const lines = readFileSync(path, "utf8")
    .split("\n")
    .filter((line) => line.trim() !== "");
  const [facts, ...values] = lines.map((line) => jsonAt({ line }, "line"));
  const known = isObject(facts) ? facts : {};
  const messages = values.map((value, row): StoredMessage => {
    const message = isObject(value) ? value : {};
    return {
      row: row + 1,
      id: undefined,
      role: stringAt(message, "role") ?? "",
      createdMs: timeMsAt(message, "created"),
      content: message["content"] ?? value,
      metadata: objectAt(message, "metadata"),
    };
  });
  return {
    ...rowOf({ ...known, id: transcriptId(undefined, basename(path)) }),
    createdMs: messages[0]?.createdMs ?? 0,
    provider: undefined,
    model: undefined,
    accumulated: spentIn(known, "accumulated_"),
    ledger: [],
    messages,
  };
}
