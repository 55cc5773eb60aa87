/**
 * Reads databases of other programs, which may be writing them, and changes nothing next to them,
 * not even the files that SQLite creates there for readers. SQLite as WebAssembly treats a link as
 * the database, so its lock and its log are in a private directory; the log is a copy. A concurrent
 * checkpoint changes the stamp of the database, and it is read again. See
 * docs/decisions/0068-several-sessions-in-one-file.md.
 */
import {
  closeSync,
  constants,
  copyFileSync,
  lstatSync,
  mkdtempSync,
  openSync,
  readSync,
  readdirSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { BranchlogError, isBranchlogError } from "@branchlog/core";
import { errorCodeOf, quietly } from "@branchlog/core/files";
import { soleReader } from "./sql-database.ts";
import type { QueryRows } from "./sql-database.ts";

/** A checkpoint writes a thousand pages, some milliseconds in some seconds. */
const attemptsMax = 5;

export interface ForeignDatabaseOptions {
  /** Whether it also holds what no copy may have, as tokens of a sign-in. */
  readonly holdsSecrets?: boolean;
}

/**
 * The result of `read` on the state of the last commit. The database is open only during the call.
 * @throws BranchlogError `ERR_LOG_MISSING`; `ERR_DOCUMENT_DAMAGED` if it cannot be read, or is
 * changed each time while it is; `ERR_LOG_UNREADABLE` for one that may not be copied, and cannot
 * be linked.
 */
export async function readForeignDatabase<Result>(
  named: string,
  read: (query: QueryRows) => Result,
  { holdsSecrets = false }: ForeignDatabaseOptions = {},
): Promise<Result> {
  // Its log is next to the file, not next to a link to it.
  const path = quietly(() => realpathSync(named)) ?? named;
  const readAlone = await soleReader();
  removeLeftBehind();
  let cause: unknown;
  for (let attempt = 1; attempt <= attemptsMax; attempt += 1) {
    const before = stampOf(path);
    if (hasHotJournal(path)) {
      cause = hotJournal;
      await pause(journalPauseMs);
      continue;
    }
    const directory = mkdtempSync(join(tmpdir(), privatePrefix));
    try {
      const link = join(directory, "database");
      if (!linkTo(path, link)) {
        if (holdsSecrets) throw linkRefused(path);
        copyFileSync(path, link, constants.COPYFILE_FICLONE);
      }
      copyLog(path, link);
      const result = readAlone(link, read);
      if (stampOf(path) === before && !hasHotJournal(path)) return result;
    } catch (error) {
      if (isBranchlogError(error)) throw error;
      cause = error;
      if (stampOf(path) === before) break;
    } finally {
      rmSync(directory, { recursive: true, force: true });
    }
  }
  const reason = cause instanceof Error ? cause.message : "it is being written continuously";
  const message = `${path} cannot be read as a database: ${reason}. It was not changed.`;
  throw new BranchlogError("ERR_DOCUMENT_DAMAGED", message, { path, cause });
}

function stampOf(path: string): string {
  try {
    const { dev, ino, size, mtimeNs, ctimeNs } = statSync(path, { bigint: true });
    return [dev, ino, size, mtimeNs, ctimeNs].join();
  } catch (cause) {
    const message = `There is no database ${path}, or it cannot be read.`;
    throw new BranchlogError("ERR_LOG_MISSING", message, { path, cause });
  }
}

const privatePrefix = "branchlog-read-";
/** No read takes as long. */
const leftBehindMs = 10 * 60_000;
let isCleaned = false;

/** What processes left that were killed while they read: a copy of a log may hold secrets. */
function removeLeftBehind(): void {
  if (isCleaned) return;
  isCleaned = true;
  for (const name of quietly(() => readdirSync(tmpdir())) ?? []) {
    if (!name.startsWith(privatePrefix)) continue;
    const directory = join(tmpdir(), name);
    quietly(() => {
      const { mtimeMs, uid } = lstatSync(directory);
      const isOwn = process.getuid === undefined || uid === process.getuid();
      if (!isOwn || Date.now() - mtimeMs < leftBehindMs) return;
      rmSync(directory, { recursive: true, force: true });
    });
  }
}

/** A commit takes some milliseconds. */
const journalPauseMs = 20;
const hotJournal = new Error(
  "its last transaction has not ended, or its program was killed. Start that program, then " +
    "repeat the command",
);

/**
 * Whether pages of a transaction that has not ended may be in the file: of a database without a
 * write-ahead log, whose journal is there and begins with its mark.
 */
function hasHotJournal(path: string): boolean {
  const journal = `${path}-journal`;
  if (!isFile(journal)) return false;
  const fd = quietly(() => openSync(journal, "r"));
  // It may be hot if it cannot be read.
  if (fd === null) return true;
  try {
    const mark = Buffer.alloc(8);
    return readSync(fd, mark, 0, mark.length, 0) === mark.length && mark.some((byte) => byte !== 0);
  } finally {
    closeSync(fd);
  }
}

/** False for a pipe, which would be waited for. */
function isFile(path: string): boolean {
  return quietly(() => statSync(path).isFile()) ?? false;
}

function copyLog(path: string, link: string): void {
  // All that was committed is in the database.
  if (!isFile(`${path}-wal`)) return;
  try {
    copyFileSync(`${path}-wal`, `${link}-wal`, constants.COPYFILE_FICLONE);
  } catch (error) {
    // It was removed with the last connection.
    if (errorCodeOf(error) !== "ENOENT") throw error;
  }
}

/** False where links need a privilege: Windows has them for administrators and developers. */
function linkTo(path: string, link: string): boolean {
  try {
    symlinkSync(path, link);
    return true;
  } catch (error) {
    if (errorCodeOf(error) !== "EPERM") throw error;
    return false;
  }
}

function linkRefused(path: string): BranchlogError {
  const message =
    `${path} was not read: it also holds tokens of a sign-in, so it is never copied, and a link ` +
    "to it could not be made. Turn on the developer mode of Windows, and repeat the command.";
  return new BranchlogError("ERR_LOG_UNREADABLE", message, { path });
}
