/** Files of agents whose databases or documents are recognised by their first bytes. */
import { closeSync, openSync, readSync, realpathSync, statSync } from "node:fs";
import { quietly } from "@branchlog/core/files";

const databaseMark = "SQLite format 3\0";
/** The first bytes of a file; empty for an unreadable one. */
export function headOf(path: string, headBytes = 256): string {
  const read = (): string => {
    // A pipe would be waited for.
    if (!statSync(path).isFile()) return "";
    const fd = openSync(path, "r");
    try {
      const bytes = Buffer.alloc(headBytes);
      return bytes.toString("latin1", 0, readSync(fd, bytes, 0, headBytes, 0));
    } finally {
      closeSync(fd);
    }
  };
  return quietly(read) ?? "";
}

export function isSqlite(path: string): boolean {
  return headOf(path).startsWith(databaseMark);
}

/** With its write-ahead log, which is not next to a link to the database. */
export function databaseFiles(path: string): readonly string[] {
  return [path, `${quietly(() => realpathSync(path)) ?? path}-wal`];
}
