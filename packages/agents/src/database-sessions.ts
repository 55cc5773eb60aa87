/** Code shared by agents that keep all sessions in one SQLite database. */
import { statSync } from "node:fs";
import { BranchlogError } from "@branchlog/core";
import { quietly } from "@branchlog/core/files";
import { normalizeName } from "@branchlog/core/entries";
import { addressInFile, dateMs, fileOfAddress } from "@branchlog/core/rows";
import type { SessionInFile } from "@branchlog/core/rows";
import { filesStamp, readForeignDatabase } from "@branchlog/library/catalogs";
import type { ForeignDatabaseOptions, QueryRows } from "@branchlog/library/catalogs";
import type { JsonValue } from "@branchlog/streaming";
import { databaseFiles } from "./database-file.ts";
import { headerOf } from "./log-lines.ts";
import type { SessionRow } from "./log-lines.ts";

export type Row = Readonly<Record<string, unknown>>;

export type DatabaseLister = (path: string) => Promise<readonly SessionInFile[]>;

/**
 * As `DocumentFormat.sessionsIn`, of a database. The last result is kept: lists call repeatedly.
 * @param read Rows with `id`, `changed` in epoch ms, `count`, and `rows` if that is another; of the
 * last message, `last` in epoch ms. Missing values are those of the session. @param rowOf The facts
 * of a session in its row.
 */
export function databaseLister(
  read: (query: QueryRows) => Iterable<Row>,
  rowOf: (row: Row, path: string) => SessionRow,
  options?: ForeignDatabaseOptions,
): DatabaseLister {
  let known: { readonly stamp: string; readonly sessions: readonly SessionInFile[] } | undefined;
  return async (path) => {
    const stamp = filesStamp(databaseFiles(path));
    if (stamp !== undefined && known?.stamp === stamp) return known.sessions;
    const rows = await readForeignDatabase(path, (query) => [...read(query)], options);
    const all = rows.map((row) => {
      const { id, changed, count, rows: rowCount = count, last } = row;
      const of = rowOf(row, path);
      const name = normalizeName(of.name ?? "") || undefined;
      // Without a time of its own, it may have changed whenever the database did.
      const changedMs =
        (changed === null ? quietly(() => statSync(path).mtimeMs) : dateMs(Number(changed))) ?? 0;
      const lastMs = dateMs(Number(last ?? changed)) ?? changedMs;
      const rowFacts = { header: headerOf(of), name, lastMs, rows: Number(rowCount) };
      return { id: String(id), changedMs, count: Number(count), rowFacts };
    });
    // Ids that agents make of those of calls may have any characters.
    const sessions = all.filter(({ id }) => fileOfAddress(addressInFile(path, id)).id === id);
    known = stamp === undefined ? undefined : { stamp, sessions };
    return sessions;
  };
}

/** Why there is no session at an address in a database. */
export function noSessionError(
  product: string,
  { file, id }: { readonly file: string; readonly id: string | undefined },
): BranchlogError {
  const message =
    id === undefined
      ? `${file} holds the sessions of ${product}. Give one of them, as ${file}#ID.`
      : `There is no session ${id} in ${file}.`;
  const code = id === undefined ? "ERR_NOT_A_SESSION" : "ERR_LOG_MISSING";
  const path = id === undefined ? file : `${file}#${id}`;
  return new BranchlogError(code, `${message} branchlog list ${file} names them.`, { path });
}

/** The names of its tables. Fails for a file that is not a database. */
export function tablesIn(query: QueryRows): ReadonlySet<unknown> {
  const names = query("SELECT name FROM sqlite_master WHERE type = 'table'");
  return new Set(names.map((row) => row["name"]));
}

/** Undefined for a value that is not a string, or empty. */
export function textAt(row: Row, key: string): string | undefined {
  const value = row[key];
  return typeof value === "string" && value !== "" ? value : undefined;
}

/** The value of a column of JSON; text that is not JSON stays text. */
export function jsonAt(row: Row, key: string): JsonValue {
  const text = textAt(row, key) ?? "";
  try {
    // Decoding boundary: JSON.parse returns only JSON values.
    return JSON.parse(text) as JsonValue;
  } catch {
    return text;
  }
}

/** A larger number is in milliseconds; goose distinguishes them the same way. */
const secondsMax = 10_000_000_000;

/** In epoch ms, of seconds, milliseconds, or a text without a zone, which is of UTC. */
export function timeMsAt(row: Row, key: string): number {
  const text = textAt(row, key)?.replace(" ", "T") ?? "";
  const zoned = /(?:Z|[+-]\d\d:?\d\d)$/.test(text) ? text : `${text}Z`;
  const count = Number(row[key]);
  const timeMs = text === "" ? (count > secondsMax ? count : count * 1000) : Date.parse(zoned);
  return dateMs(timeMs) ?? 0;
}
