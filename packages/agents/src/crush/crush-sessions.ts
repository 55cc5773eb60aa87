/** Reads sessions of Crush in the database of a project, and makes logs of them. */
import { fileOfAddress } from "@branchlog/core/rows";
import { readForeignDatabase } from "@branchlog/library/catalogs";
import type { QueryRows } from "@branchlog/library/catalogs";
import { databaseLister, jsonAt, noSessionError } from "../database-sessions.ts";
import { tablesIn, textAt, timeMsAt } from "../database-sessions.ts";
import type { DatabaseLister, Row } from "../database-sessions.ts";
import { isFinished, logOfSession } from "./crush-entries.ts";
import type { StoredMessage, StoredSession } from "./crush-entries.ts";
import type { SessionRow } from "../log-lines.ts";
import { projectOf } from "./crush-projects.ts";

/**
 * As `DocumentFormat.sessionsIn`, without sessions that have no message. A session changes with the
 * count of its messages, and with each request; a scan of the messages would read all of them.
 */
export const sessionsIn: DatabaseLister = databaseLister((query) => {
  if (!isOfCrush(tablesIn(query))) return [];
  return query(
    "SELECT s.*, 1000 * s.updated_at AS changed, m.rows, " +
      "m.count + s.prompt_tokens + s.completion_tokens AS count FROM sessions s " +
      "JOIN (SELECT session_id, count(*) AS rows, count(*) + max(rowid) AS count FROM messages " +
      "GROUP BY session_id) m ON m.session_id = s.id",
  );
}, rowOf);

/** Other programs may name a database like this, too. */
function isOfCrush(tables: ReadonlySet<unknown>): boolean {
  return ["sessions", "messages", "files"].every((table) => tables.has(table));
}

/** As `DocumentFormat.toLog`. */
export async function crushLog(path: string): Promise<Buffer> {
  const { file, id } = fileOfAddress(path);
  const session = await readForeignDatabase(file, (query) => sessionIn(query, file, id));
  if (session === undefined) throw noSessionError("Crush", { file, id });
  return logOfSession(session);
}

function sessionIn(
  query: QueryRows,
  file: string,
  id: string | undefined,
): StoredSession | undefined {
  if (id === undefined || !isOfCrush(tablesIn(query))) return undefined;
  const [row] = query("SELECT * FROM sessions WHERE id = ?", id);
  if (row === undefined) return undefined;
  const ordered = "WHERE session_id = ? ORDER BY created_at, rowid";
  const rows = query(`SELECT * FROM messages ${ordered}`, id);
  const summaryId = textAt(row, "summary_message_id");
  const messages = withoutRunning(rows).map((one) => messageOf(one, summaryId));
  return { ...rowOf(row, file), messages };
}

/** The name of a session without a title. */
const unnamed = "Untitled Session";

function rowOf(row: Row, file: string): SessionRow {
  const title = textAt(row, "title");
  return {
    id: textAt(row, "id") ?? "",
    parentId: textAt(row, "parent_session_id"),
    directory: projectOf(file),
    name: title === unnamed ? undefined : title,
    createdMs: timeMsAt(row, "created_at"),
  };
}

/** An answer that was not changed for so long is one that was broken off. */
const runningMs = 60_000;

/**
 * An answer is changed with each part of it, also after the results of its calls. It is left out
 * until it has ended, so that a log only grows.
 */
function withoutRunning(rows: readonly Row[]): readonly Row[] {
  const at = rows.findIndex((row) => {
    const isAnswer = row["role"] === "assistant" && !isFinished(jsonAt(row, "parts"));
    return isAnswer && Date.now() - timeMsAt(row, "updated_at") < runningMs;
  });
  return at < 0 ? rows : rows.slice(0, at);
}

function messageOf(row: Row, summaryId: string | undefined): StoredMessage {
  const id = textAt(row, "id") ?? "";
  return {
    id,
    role: textAt(row, "role") ?? "",
    parts: jsonAt(row, "parts"),
    provider: textAt(row, "provider"),
    model: textAt(row, "model"),
    // Before it had a column, only the last one was known.
    isSummary: row["is_summary_message"] === 1 || id === summaryId,
    createdMs: timeMsAt(row, "created_at"),
  };
}
